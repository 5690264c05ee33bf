"""A batch of evaluation written out: forward passes of every micro-batch on the ranks that train."""

from types import SimpleNamespace
from typing import Any

from costmodel.workloads.transformer import blocks
from costmodel.workloads.transformer.memory import RESIDENT_LAYERS
from tests.oracles.transformer import BYTES, CAST, Rank, Run, Send, Step, layer_runs, stage_layers, waiting_passes
from tests.oracles.transformer_memory import OFFLOAD


def evaluation_step(job: Any, choice: dict[str, int]) -> Step:
    """Of the busiest accelerator."""
    c, shape, step = SimpleNamespace(**choice), job.shape, Step()
    parameter = max(BYTES[job.precision], 2)
    activation = BYTES[job.activation_precision] if job.activation_precision else parameter
    tokens = c.micro_batch * job.sequence / c.context
    normed = tokens / c.tensor if c.sequence_parallel else tokens
    rank = Rank(shape, c.tensor, c.expert, tokens, normed, BYTES[job.precision], activation, CAST[job.precision])
    micro_batches = job.global_batch // (c.data * c.micro_batch)
    layers, last_layers = stage_layers(shape.layers, c)
    step.relief = (layers - last_layers) / layers
    step.bubble = waiting_passes(c.pipeline, c.interleave, micro_batches) / (c.interleave * micro_batches)
    runs, sends = layer_runs(job, c, rank)[0]
    hidden = activation * tokens * shape.hidden
    for _ in range(micro_batches):
        for _ in range(layers):
            step.every_stage.add(runs, sends, is_ahead=True)
        for _ in range(c.interleave if c.pipeline > 1 else 0):
            waits = blocks.SHOWN_HAND_OVER if c.interleave > 1 else 1
            step.every_stage.add([], [Send("pipeline", hidden / c.tensor, waits)])
        precision = "bf16" if BYTES[job.precision] < 2 else job.precision
        logits = tokens * shape.vocabulary / c.tensor
        projected = rank.matrix(tokens, shape.hidden, shape.vocabulary / c.tensor, 1, parameter, precision)
        inputs = Send("tensor", hidden, 0.5 if c.tensor > 1 and c.sequence_parallel else 0)
        step.last_stage.add([projected, Run("elementwise", 0.0, 8 * logits)], [inputs], is_ahead=True)
        if c.pipeline == 1:
            step.last_stage.add([rank.copy(2 * tokens * shape.hidden)], [], is_ahead=True)
        if c.zero == 3 and c.data * c.context > 1:
            step.once.sends.append(_gathered(job, c, rank, layers, parameter))
        if c.offload & OFFLOAD["weights"] and layers > RESIDENT_LAYERS:
            step.memory.tier_bytes += _weights(job, c, rank, layers, parameter)
    return step


def _weights(job: Any, c: Any, rank: Rank, layers: int, parameter: float) -> float:
    """Of the stage, which each micro-batch reads once; under ZeRO-3 the part of them that the rank has."""
    shape, ranks = job.shape, c.data * c.context
    ends = shape.vocabulary * shape.hidden / c.tensor * (2 if c.pipeline == 1 and not shape.tied_embeddings else 1)
    whole, experts = layers * rank.whole_parameters() + ends, layers * rank.expert_parameters()
    if c.zero == 3:
        whole, experts = whole / ranks, experts / (ranks // c.expert)
    return max(parameter, 2) * (whole + experts)


def _gathered(job: Any, c: Any, rank: Rank, layers: int, parameter: float) -> Send:
    """Half an all-reduce of all parameters of the stage, in buckets."""
    shape, ranks = job.shape, c.data * c.context
    ends = shape.vocabulary * shape.hidden / c.tensor * (2 if c.pipeline == 1 and not shape.tied_embeddings else 1)
    experts = layers * rank.expert_parameters()
    whole = layers * rank.whole_parameters() + ends
    of_experts = (ranks // c.expert - 1) / (ranks // c.expert) / ((ranks - 1) / ranks)
    size = BYTES[job.gather_precision] if job.gather_precision else parameter
    return Send("data", size * (whole + experts * of_experts), 0.5, max((whole + experts) / max(40e6, 1e6 * ranks), 1))
