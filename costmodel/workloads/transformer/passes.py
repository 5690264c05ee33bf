"""Steps of an engine: passes through all layers with some running requests and some prompts, operator by operator."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision, wide_precision
from costmodel.parallelism.mappings import Bools, Floats
from costmodel.pricing.opgraph import AttentionSizes, Block, Message, Operator, Shapes
from costmodel.serving.closed_loop import START_SHARE
from costmodel.serving.kernel_rules import KernelRules
from costmodel.workloads.transformer.layers import LayerRun
from costmodel.workloads.transformer.shapes import TransformerShape, attention_core, attention_matrices

Row = TypeVar("Row", Operator, Message)
VOCABULARY_BYTES = 2.0
"""the vocabulary's matrices stay in bf16"""


@dataclass(frozen=True)
class Pass:
    """One step of a phase; columns of shape (K,), of one micro-batch."""

    phase: str
    running: Floats
    """requests that get a token each"""
    prompts: Floats
    """prompts that run beside them, each of which gets its first token"""

    @property
    def sequences(self) -> Floats:
        return self.running + self.prompts


def passes_by_phase(slots: Floats, prompts: Floats, beside: Floats) -> dict[str, Pass]:
    """A step of each phase: tokens of all running requests; prompts beside some, and beside the few of a start; one
    request alone."""
    return {
        "decode": Pass("decode", slots, np.zeros_like(slots)),
        "prefill": Pass("prefill", beside, prompts),
        "start": Pass("start", beside / START_SHARE, prompts),
        "single": Pass("single", np.ones_like(slots), np.zeros_like(slots)),
    }


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
    context: Floats | float
    """mean number of tokens in the cache of a running request"""
    tokens_each: float = 1.0
    """of a running request in one step: one, and those that were guessed"""
    cached_tokens: Floats | float = 0.0
    """of a prompt that the cache holds before, in the mean"""
    pipeline: Floats | float = 1.0
    micro_batches: Floats | float = 1.0
    """in which the requests go through the stages, one after the other"""
    rules: KernelRules | None = None
    """of the kernels, where a source states them"""
    shared_tokens: Floats | float = 0.0
    """of all prompts, that the cache holds once"""

    def blocks(self, each: Pass, shapes: Shapes, steps: Floats, *, name: str = "", share: float = 1.0) -> list[Block]:
        """Layers of a stage with their two all-reduces, what it hands over, and on the last stage the vocabulary
        projection of the token of each sequence; for all micro-batches.

        `steps` of them, shape (M,), are in a step of the workload; each has so many of these passes, or a share.
        """
        layers, phase, is_some = self._layers(each), each.phase, each.sequences > 0
        reduces = 2.0 if self.rules is None or self.rules.all_reduces else 0.0
        operators = [*layers.operators(), *self._attention(each), *self._unpacked(each, layers)]
        messages, last = layers.messages(reduces), self._vocabulary(each, layers)
        if not is_some.all():
            operators, messages, last = _where(is_some, operators), _where(is_some, messages), _where(is_some, last)
        stages, times = (_by_mapping(each, shapes) for each in (self.pipeline, share * self.micro_batches))
        of_stage = times * np.ceil(self.shape.layers / stages)
        found = [shapes.phase_block(phase, f"{name}layers", operators, messages, of_stage, steps)]
        if np.any(stages > 1):
            found.append(shapes.phase_block(phase, f"{name}hand-over", [], [self._handed(layers)], times, steps))
        if last:
            label = f"{name}vocabulary"
            found.append(shapes.phase_block(phase, label, last, [], times, steps, stage_share=1.0 / stages))
        return found

    def cached(self, each: Pass) -> tuple[Floats, Floats]:
        """Tokens of the cache that a step reads, and that it writes, beside a prefix that all share."""
        shared = self.shared_tokens
        read = each.running * (self.context - shared) + each.prompts * (self.cached_tokens - shared)
        return read, each.running * self.tokens_each + each.prompts * self.prompt_tokens

    def _layers(self, each: Pass) -> LayerRun:
        """Tokens alone go straight to each expert, in the precision of the products: exchanges of low latency
        (deepseek-ai/DeepEP, 2025), which no server's switch passes on."""
        given = each.running * self.tokens_each + each.prompts * self.prompt_tokens
        tokens = np.where(each.sequences > 0, given, 1.0)
        sizes = BYTES_OF_PRECISION[self.precision], BYTES_OF_PRECISION[self.activation_precision]
        layers = LayerRun(self.shape, self.tensor, self.expert, tokens, tokens, *sizes)
        if self.rules is not None:
            return replace(layers, norm_accesses=self.rules.norm_accesses)
        if each.prompts.any():
            return layers
        return replace(layers, copies=float(self.shape.experts_per_token), dispatch_bytes=min(sizes))

    def _handed(self, layers: LayerRun) -> Message:
        """To the next stage, of all but the last one: a rank sends its share over its own link."""
        sent_bytes = layers.activation_bytes * layers.tokens * self.shape.hidden / self.tensor
        return Message("pipeline hand-over", "pipeline", sent_bytes, 1 - 1.0 / np.asarray(self.pipeline))

    def _vocabulary(self, each: Pass, layers: LayerRun) -> list[Operator]:
        """Projection; by rules it has the precision of the layers, after a norm of its own."""
        sizes, label = (float(self.shape.hidden), self.shape.vocabulary / self.tensor), "vocabulary projection"
        yielded = np.where(each.sequences > 0, each.running * self.tokens_each + each.prompts, 1.0)
        if self.rules is None:
            wide = wide_precision(self.precision)
            return [layers.matrix(label, yielded, sizes, weight_bytes=VOCABULARY_BYTES, precision=wide)]
        normed = 2 * layers.activation_bytes * yielded * self.shape.hidden
        last = [Operator("last norm", "elementwise", 0.0, normed), layers.matrix(label, yielded, sizes)]
        return last if self.rules.vocabulary else []

    def _attention(self, each: Pass) -> list[Operator]:
        found = []
        if each.running.any():
            found += self._of_tokens(each.running)
        if each.prompts.any():
            found += self._of_prompts(each.prompts)
        return found

    def _of_tokens(self, batch: Floats) -> list[Operator]:
        """Tokens of one request read its cache together, as more heads of queries would."""
        heads, kv_heads, width = attention_core(self.shape, self.tensor, is_cached=bool(np.all(self.context > 0)))
        sizes = AttentionSizes(
            batch, 1.0, self.context, heads * self.tokens_each, kv_heads, width, self.kv_precision, self.shape.causal
        )
        return self._core("attention of tokens", sizes, self.tokens_each, self.context, self.context)

    def _of_prompts(self, batch: Floats) -> list[Operator]:
        new, cached = self.prompt_tokens, self.cached_tokens
        heads, kv_heads, width = attention_core(self.shape, self.tensor, is_cached=False)
        sizes = AttentionSizes(batch, new, cached, heads, kv_heads, width, self.kv_precision, self.shape.causal)
        skips = self.shape.causal and (self.rules is None or self.rules.skips_masked)
        seen = cached + ((new + 1) / 2 if skips else new)
        return self._core("attention of prompts", sizes, new, seen, cached + new)

    def _core(
        self, name: str, sizes: AttentionSizes, tokens: Floats | float, seen: Floats | float, read: Floats | float
    ) -> list[Operator]:
        """Attention of so many new tokens, each to `seen` others: scores and values, KV cache read once, queries and
        results; fused, or scores, softmax and weighted values one by one, which all read or write the scores. It runs
        in a narrow precision only where the KV cache is in the same."""
        kv_bytes, activation = BYTES_OF_PRECISION[self.kv_precision], BYTES_OF_PRECISION[self.activation_precision]
        batch, heads = np.asarray(sizes.batch), self.shape.heads / self.tensor
        read_bytes = batch * read * 2 * kv_bytes * sizes.kv_heads * sizes.head_dim
        flops = 4 * batch * tokens * seen * heads * sizes.head_dim
        in_or_out = activation * batch * tokens * self.shape.query_dim / self.tensor
        runs = self.precision if self.kv_precision == self.precision else wide_precision(self.precision)
        count = np.where(batch > 0, 1.0, 0.0)
        if self.rules is None or self.rules.fuses_attention:
            moved = read_bytes + 2 * in_or_out
            return [Operator(name, "attention", flops, moved, count=count, precision=runs, attention=sizes)]
        scores = activation * batch * tokens * seen * heads
        moved = in_or_out + read_bytes / 2 + scores
        return [
            Operator(f"{name}, products", "attention", flops / 2, moved, count=2 * count, precision=runs),
            Operator(f"{name}, softmax", "elementwise", 0.0, 2 * scores, count=count),
        ]

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


def _by_mapping(column: Floats | float, shapes: Shapes) -> Floats:
    """A column of shape (K,), or one number, by mapping: shape (M,)."""
    return np.broadcast_to(np.asarray(column, np.float64), (len(shapes),))[shapes.of]
