"""Time of one transformer layer on one tensor rank, by operator.

Columns have shape (C,) or any shapes that broadcast: `batch` sequences each add `new` tokens to `past` ones.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costmodel.serving.static.engine import Engine, KernelRules
from costmodel.workloads.transformer.shapes import TransformerShape, kv_dim

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LayerTime:
    """Times of one layer by kind of operator, seconds."""

    matrices_s: Floats
    """products with weights"""
    attention_s: Floats
    vectors_s: Floats
    """norms, residual additions and the activation function"""
    all_reduce_s: Floats
    overhead_s: Floats

    @property
    def total_s(self) -> Floats:
        return self.matrices_s + self.attention_s + self.vectors_s + self.all_reduce_s + self.overhead_s


@dataclass(frozen=True)
class Rank:
    """Prices one operator on one rank of an engine."""

    engine: Engine
    rules: KernelRules

    def memory_s(self, num_bytes: ArrayLike) -> Floats:
        """(bytes + ramp) / (efficiency x bandwidth)."""
        rate = self.rules.memory_efficiency * self.engine.memory_bytes_per_s
        return (np.asarray(num_bytes, np.float64) + self.rules.memory_ramp_bytes) / rate

    def product_s(self, flops: ArrayLike, num_bytes: ArrayLike) -> Floats:
        """(flops + ramp) / (efficiency x peak) beside the time of the bytes, or before it."""
        rate = self.rules.matrix_efficiency * self.engine.flops_per_s
        compute_s = (np.asarray(flops, np.float64) + self.rules.matrix_ramp_flops) / rate
        if self.rules.overlaps_memory:
            return np.maximum(compute_s, self.memory_s(num_bytes))
        return compute_s + self.memory_s(num_bytes)

    def matrix_s(self, tokens: ArrayLike, inputs: float, outputs: float) -> Floats:
        """Product of tokens x inputs with a weight matrix of inputs x outputs."""
        count = np.asarray(tokens, np.float64)
        moved = self.rules.weight_bytes * inputs * outputs + self.rules.activation_bytes * count * (inputs + outputs)
        return self.product_s(2.0 * count * inputs * outputs, moved)

    def all_reduce_s(self, num_bytes: ArrayLike) -> Floats:
        """start + 2 (t - 1) / t x bytes / (efficiency x link); 0 for one rank, or where no link is given."""
        size = np.asarray(num_bytes, np.float64)
        if self.engine.tensor == 1 or self.engine.link_bytes_per_s is None:
            return np.zeros_like(size)
        share = 2.0 * (self.engine.tensor - 1) / self.engine.tensor
        rate = self.rules.link_efficiency * self.engine.link_bytes_per_s
        return self.rules.all_reduce_start_s + share * size / rate


def layer_s(
    shape: TransformerShape, engine: Engine, rules: KernelRules, batch: ArrayLike, new: ArrayLike, past: ArrayLike
) -> LayerTime:
    """Time of one layer; ValueError for a mixture of experts, which is not described here."""
    if not shape.is_dense:
        raise ValueError("experts: only dense transformers are priced here; give a shape with one expert")
    rank, tensor = Rank(engine, rules), engine.tensor
    tokens = np.asarray(batch, np.float64) * np.asarray(new, np.float64)
    query, ffn, act = shape.query_dim / tensor, shape.ffn / tensor, rules.activation_bytes
    halves = 2 if shape.gated else 1
    matrices = (
        rank.matrix_s(tokens, shape.hidden, query + 2 * float(kv_dim(shape, tensor)))
        + rank.matrix_s(tokens, query, shape.hidden)
        + rank.matrix_s(tokens, shape.hidden, halves * ffn)
        + rank.matrix_s(tokens, ffn, shape.hidden)
    )
    vector = act * tokens * shape.hidden
    vectors = 2 * rank.memory_s(2 * vector) + rank.memory_s(act * tokens * (halves + 1) * ffn)
    if not rules.fuses_residuals:
        vectors = vectors + 2 * rank.memory_s(3 * vector)
    return LayerTime(
        matrices_s=matrices,
        attention_s=attention_s(shape, rank, batch, new, past),
        vectors_s=vectors,
        all_reduce_s=2 * rank.all_reduce_s(vector),
        overhead_s=np.asarray(rules.layer_overhead_s, np.float64),
    )


def attention_s(shape: TransformerShape, rank: Rank, batch: ArrayLike, new: ArrayLike, past: ArrayLike) -> Floats:
    """Attention of the new tokens to all so far: one operator, or scores, softmax and weighted values."""
    rules, tensor = rank.rules, rank.engine.tensor
    sequences, added, before = (np.asarray(each, np.float64) for each in (batch, new, past))
    seen = before + ((added + 1) / 2 if rules.skips_masked and shape.causal else added)
    query, scores = shape.query_dim / tensor, sequences * added * seen * shape.heads / tensor
    product_flops = 2.0 * sequences * added * seen * query
    in_or_out = rules.activation_bytes * sequences * added * query
    cache = rules.kv_bytes * sequences * (before + added) * kv_dim(shape, tensor)
    if rules.fuses_attention:
        return rank.product_s(2 * product_flops, 2 * in_or_out + 2 * cache)
    one_product = rank.product_s(product_flops, in_or_out + cache + rules.activation_bytes * scores)
    return 2 * one_product + rank.memory_s(2 * rules.activation_bytes * scores)
