"""Steps of an engine: passes through all layers with some running requests and some prompts, operator by operator."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision, wide_precision
from costmodel.parallelism.mappings import Bools, Floats
from costmodel.pricing.opgraph import AttentionSizes, Block, Message, Operator, Shapes
from costmodel.workloads.transformer.layers import LayerRun
from costmodel.workloads.transformer.shapes import TransformerShape, attention_core, attention_matrices

Row = TypeVar("Row", Operator, Message)
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

    @property
    def sequences(self) -> Floats:
        return self.running + self.prompts


@dataclass(frozen=True)
class Passes:
    """What all steps of a replica have in common; columns of shape (K,)."""

    shape: TransformerShape
    tensor: Floats
    expert: Floats
    precision: Precision
    activation_precision: Precision
    kv_precision: Precision
    prompt_tokens: Floats | float
    """of a prompt that one step computes"""
    context: float
    """mean number of tokens in the cache of a running request"""
    tokens_each: float = 1.0
    """of a running request in one step: one, and those that were guessed"""
    cached_tokens: Floats | float = 0.0
    """of a prompt that the cache holds before, in the mean"""

    def blocks(self, each: Pass, shapes: Shapes, steps: Floats, *, name: str = "", share: float = 1.0) -> list[Block]:
        """Layers with their two all-reduces, and the vocabulary projection of the token of each sequence.

        `steps` of them, shape (M,), are in a step of the workload; each has so many of these passes, or a share.
        """
        weight, activation = BYTES_OF_PRECISION[self.precision], BYTES_OF_PRECISION[self.activation_precision]
        running, is_some = each.running * self.tokens_each, each.sequences > 0
        tokens = np.where(is_some, running + each.prompts * self.prompt_tokens, 1.0)
        layers = LayerRun(self.shape, self.tensor, self.expert, tokens, tokens, weight, activation)
        sizes = (float(self.shape.hidden), self.shape.vocabulary / self.tensor)
        yielded, wide = np.where(is_some, running + each.prompts, 1.0), wide_precision(self.precision)
        vocabulary = layers.matrix(
            "vocabulary projection", yielded, sizes, weight_bytes=VOCABULARY_BYTES, precision=wide
        )
        operators = [*layers.operators(), *self._attention(each), *self._unpacked(each, layers)]
        messages, projection = layers.messages(2.0), [vocabulary]
        if not is_some.all():
            operators, messages, projection = (
                _where(is_some, operators), _where(is_some, messages), _where(is_some, projection)
            )  # fmt: skip
        times = share * self.shape.layers
        return [
            shapes.phase_block(each.phase, f"{name}layers", operators, messages, times, steps),
            shapes.phase_block(each.phase, f"{name}vocabulary", projection, [], share, steps),
        ]

    def _attention(self, each: Pass) -> list[Operator]:
        found = []
        if each.running.any():
            found.append(self._of_tokens(each.running))
        if each.prompts.any():
            found.append(self._of_prompts(each.prompts))
        return found

    def _of_tokens(self, batch: Floats) -> Operator:
        """Tokens of one request read its cache together, as more heads of queries would."""
        heads, kv_heads, width = attention_core(self.shape, self.tensor, is_cached=self.context > 0)
        sizes = AttentionSizes(
            batch, 1.0, self.context, heads * self.tokens_each, kv_heads, width, self.kv_precision, self.shape.causal
        )
        return self._core("attention of tokens", sizes, self.tokens_each, self.context, self.context)

    def _of_prompts(self, batch: Floats) -> Operator:
        new, cached = self.prompt_tokens, self.cached_tokens
        heads, kv_heads, width = attention_core(self.shape, self.tensor, is_cached=False)
        sizes = AttentionSizes(batch, new, cached, heads, kv_heads, width, self.kv_precision, self.shape.causal)
        seen = cached + new * (0.5 if self.shape.causal else 1.0)
        return self._core("attention of prompts", sizes, new, seen, cached + new)

    def _core(
        self, name: str, sizes: AttentionSizes, tokens: Floats | float, seen: Floats | float, read: Floats | float
    ) -> Operator:
        """Fused attention of so many new tokens, each to `seen` others: scores and values, KV cache read once, queries
        and results. It runs in a narrow precision only where the KV cache is in the same."""
        kv_bytes, activation = BYTES_OF_PRECISION[self.kv_precision], BYTES_OF_PRECISION[self.activation_precision]
        batch, heads = np.asarray(sizes.batch), self.shape.heads / self.tensor
        read_bytes = batch * read * 2 * kv_bytes * sizes.kv_heads * sizes.head_dim
        return Operator(
            name,
            "attention",
            4 * batch * tokens * seen * heads * sizes.head_dim,
            read_bytes + 2 * activation * batch * tokens * self.shape.query_dim / self.tensor,
            count=np.where(batch > 0, 1.0, 0.0),
            precision=self.precision if self.kv_precision == self.precision else wide_precision(self.precision),
            attention=sizes,
        )

    def _unpacked(self, each: Pass, layers: LayerRun) -> list[Operator]:
        """Keys and values that prompts need of the latents that the cache holds."""
        if not self.shape.kv_rank or not np.any(each.prompts * self.cached_tokens > 0):
            return []
        name = "key and value projection"
        tokens = each.prompts * self.cached_tokens
        return [layers.matrix(f"{name} of the cache", tokens, attention_matrices(self.shape, self.tensor)[name])]


def _where(is_some: Bools, rows: Sequence[Row]) -> list[Row]:
    """The rows, executed by those shapes alone that run anything."""
    return [replace(row, count=np.where(is_some, row.count, 0.0)) for row in rows]
