"""Whole requests in fixed batches: prefill of the input, then one token at a time; memory bounds the batch.

Columns have shape (C,) or shapes that broadcast to it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costmodel.serving.static.engine import Engine, KernelRules
from costmodel.serving.static.layer import Rank, layer_s
from costmodel.workloads.transformer.shapes import TransformerShape, kv_dim

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Served:
    """One batch of equal requests from start to end."""

    prefill_s: Floats
    decode_s: Floats
    output_tokens_per_s: Floats
    mfu: Floats
    """share of the matrix peak of all ranks: 2 operations for each parameter and token"""

    @property
    def latency_s(self) -> Floats:
        return self.prefill_s + self.decode_s


def largest_batch(
    shape: TransformerShape, engine: Engine, rules: KernelRules, input_tokens: ArrayLike, output_tokens: ArrayLike
) -> Ints:
    """Most sequences whose keys and values fit beside the weights, shape (C,); 0 where not even one does.

    A multiple of the stages where at least one for each fits. Weights and caches divide evenly over all ranks.
    """
    usable = engine.num_ranks * engine.capacity_bytes * (1 - rules.memory_reserve)
    width = 2 * float(kv_dim(shape, engine.tensor)) * engine.tensor * shape.layers
    tokens = np.asarray(input_tokens, np.float64) + np.asarray(output_tokens, np.float64)
    room = np.floor((usable - shape.num_parameters * rules.weight_bytes) / (rules.kv_bytes * width * tokens))
    most = np.clip(room, 0, np.inf if engine.max_batch is None else engine.max_batch)
    whole = np.floor(most / engine.pipeline) * engine.pipeline
    return np.where(most >= engine.pipeline, whole, most).astype(np.int64)


def pass_s(
    shape: TransformerShape, engine: Engine, rules: KernelRules, batch: ArrayLike, new: ArrayLike, past: ArrayLike
) -> Floats:
    """One pass of one micro-batch through all layers, the vocabulary and the links between stages.

    Only the last token of a sequence is projected on the vocabulary. A stage sends its activations divided
    over the ranks of the tensor group, one link each.
    """
    rank = Rank(engine, rules)
    sequences = np.asarray(batch, np.float64)
    layers = shape.layers * layer_s(shape, engine, rules, sequences, new, past).total_s
    vector = rules.activation_bytes * sequences * shape.hidden
    head = rank.matrix_s(sequences, shape.hidden, shape.vocabulary / engine.tensor) + rank.memory_s(2 * vector)
    if engine.stage_link_bytes_per_s is None or engine.pipeline == 1:
        return layers + head
    sent = vector * np.asarray(new, np.float64) / engine.tensor
    return layers + head + (engine.pipeline - 1) * sent / engine.stage_link_bytes_per_s


def serve(
    shape: TransformerShape,
    engine: Engine,
    rules: KernelRules,
    batch: ArrayLike,
    input_tokens: ArrayLike,
    output_tokens: ArrayLike,
) -> Served:
    """Time and rates of batches of shape (C,), run to the end before the next ones start.

    With p stages a batch is cut into m = min(p, batch) micro-batches that follow one another: m + p - 1 stage
    times for the prefill, max(m, p) for each token. Stages take equal shares of a pass. Whether the batch fits
    is not asked: see `largest_batch`.
    """
    sequences, inputs, outputs = np.broadcast_arrays(
        *(np.atleast_1d(np.asarray(each, np.float64)) for each in (batch, input_tokens, output_tokens))
    )
    if sequences.min(initial=1) < 1 or inputs.min(initial=1) < 1 or outputs.min(initial=1) < 1:
        raise ValueError("batch, input_tokens, output_tokens: count from 1")
    stages = engine.pipeline
    micro_batches = np.minimum(stages, sequences)
    micro_batch = sequences / micro_batches
    prefill_s = pass_s(shape, engine, rules, micro_batch, inputs, 0.0) * (micro_batches + stages - 1) / stages
    position = np.arange(int(outputs.max(initial=1)), dtype=np.float64)
    each_s = pass_s(shape, engine, rules, micro_batch[:, None], 1.0, inputs[:, None] + position)
    token_s = np.where(position < outputs[:, None], each_s, 0.0).sum(axis=-1)
    decode_s = token_s * np.maximum(micro_batches, stages) / stages
    latency_s = prefill_s + decode_s
    flops = 2.0 * shape.num_parameters * sequences * (inputs + outputs)
    return Served(
        prefill_s=prefill_s,
        decode_s=decode_s,
        output_tokens_per_s=sequences * outputs / latency_s,
        mfu=flops / (latency_s * engine.num_ranks * engine.flops_per_s),
    )
