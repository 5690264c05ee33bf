"""Steps of an engine: passes through all layers with some running requests and some prompts, operator by operator."""

from dataclasses import dataclass

import numpy as np

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision, wide_precision
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.opgraph import AttentionSizes, Block, Operator, Shapes
from costmodel.workloads.transformer.layers import LayerRun
from costmodel.workloads.transformer.shapes import TransformerShape, attention_core

VOCABULARY_BYTES = 2.0
"""the vocabulary's matrices stay in bf16"""


@dataclass(frozen=True)
class Pass:
    """One step of a phase; columns of shape (K,)."""

    phase: str
    running: Floats
    """requests that get a token each"""
    prompts: Floats
    """prompts that run beside them, each of which gets its first token"""


@dataclass(frozen=True)
class Passes:
    """What all steps of a replica have in common; columns of shape (K,)."""

    shape: TransformerShape
    tensor: Floats
    expert: Floats
    precision: Precision
    activation_precision: Precision
    kv_precision: Precision
    input_tokens: float
    context: float
    """mean number of tokens in the cache of a running request"""

    def blocks(self, each: Pass, shapes: Shapes, steps: Floats) -> list[Block]:
        """Layers with their two all-reduces, and the vocabulary projection of the token of each sequence.

        `steps` of them, shape (M,), are in a step of the workload.
        """
        weight, activation = BYTES_OF_PRECISION[self.precision], BYTES_OF_PRECISION[self.activation_precision]
        tokens = each.running + each.prompts * self.input_tokens
        layers = LayerRun(self.shape, self.tensor, self.expert, tokens, tokens, weight, activation)
        sizes = (float(self.shape.hidden), self.shape.vocabulary / self.tensor)
        vocabulary = layers.matrix(
            "vocabulary projection", each.running + each.prompts, sizes, weight_bytes=VOCABULARY_BYTES,
            precision=wide_precision(self.precision),
        )  # fmt: skip
        operators = [*layers.operators(), *self._attention(each)]
        times = float(self.shape.layers)
        return [
            shapes.phase_block(each.phase, "layers", operators, layers.messages(2.0), times, steps),
            shapes.phase_block(each.phase, "vocabulary", [vocabulary], [], 1.0, steps),
        ]

    def _attention(self, each: Pass) -> list[Operator]:
        found = []
        if each.running.any():
            found.append(self._core("attention of tokens", each.running, 1.0, self.context, self.context))
        if each.prompts.any():
            seen = self.input_tokens * (0.5 if self.shape.causal else 1.0)
            found.append(self._core("attention of prompts", each.prompts, self.input_tokens, 0.0, seen))
        return found

    def _core(self, name: str, batch: Floats, tokens: float, cached: float, seen: float) -> Operator:
        """Fused attention of new tokens, each to so many `seen`: scores and values, KV cache read once, queries and
        results. It runs in a narrow precision only where the KV cache is in the same."""
        heads, kv_heads, width = attention_core(self.shape, self.tensor, is_cached=cached > 0)
        kv_bytes, activation = BYTES_OF_PRECISION[self.kv_precision], BYTES_OF_PRECISION[self.activation_precision]
        sizes = AttentionSizes(batch, tokens, cached, heads, kv_heads, width, self.kv_precision, self.shape.causal)
        read_bytes = batch * (cached or tokens) * 2 * kv_bytes * kv_heads * width
        return Operator(
            name,
            "attention",
            4 * batch * tokens * seen * heads * width,
            read_bytes + 2 * activation * batch * tokens * self.shape.query_dim / self.tensor,
            count=np.where(batch > 0, 1.0, 0.0),
            precision=self.precision if self.kv_precision == self.precision else wide_precision(self.precision),
            attention=sizes,
        )
