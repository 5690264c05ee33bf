"""Peak memory of one accelerator's training step, counted one mapping at a time."""

from dataclasses import dataclass
from typing import Any

from costmodel.workloads.transformer import memory as fitted

RECOMPUTE = ("none", "selective", "full")
OFFLOAD = {"weights": 1, "activations": 2, "optimizer": 4}


@dataclass
class Memory:
    """In the accelerator's memory, in the second tier, and moved to and from that in a step."""

    footprint_bytes: float = 0.0
    tier_footprint_bytes: float = 0.0
    tier_bytes: float = 0.0
    update_bytes: float = 0.0
    forward_bytes: float = 0.0


def training_memory(job: Any, c: Any, rank: Any, parameters: tuple[float, ...], counts: tuple[int, float]) -> Memory:
    """Peak of the busiest stage; `parameters` are those that all data ranks have, of experts, and of the vocabulary."""
    (whole, experts, ends), (micro_batches, layers) = parameters, counts
    parameter, memory = 4 if job.precision == "fp32" else 2, Memory()
    ranks = c.data * c.context
    shard = whole / ranks + experts / (ranks // c.expert)
    everything = whole + experts
    state = 8 if job.precision == "fp32" else 12
    weights = parameter * (shard if c.zero == 3 else everything)
    gradients = (2 if job.gradient_precision == "bf16" else 4) * (shard if c.zero >= 2 else everything)
    optimizer = state * (shard if c.zero >= 1 else everything)
    resident = min(fitted.RESIDENT_LAYERS, layers) / layers
    gathered = resident * parameter * (everything - shard) if c.zero == 3 else 0
    kept, working = _kept_bytes(job, c, rank)
    first, last = _layers_in_flight(c, micro_batches, layers)
    logits = fitted.LOGIT_BYTES * rank.activation / 2 * rank.tokens * job.shape.vocabulary / c.tensor
    away = {name: bool(c.offload & bit) for name, bit in OFFLOAD.items()}
    stays = {"weights": resident, "activations": min(fitted.RESIDENT_LAYERS, first) / first, "optimizer": 0}
    local = {name: stays[name] if away[name] else 1 for name in OFFLOAD}
    last_layers = min(fitted.RESIDENT_LAYERS, last) if away["activations"] and local["activations"] < 1 else last
    in_use = max(kept * first * local["activations"] + (logits if c.pipeline == 1 else 0), kept * last_layers + logits)
    memory.footprint_bytes = local["weights"] * weights + gathered + gradients + local["optimizer"] * optimizer
    memory.footprint_bytes += in_use + working + parameter * ends + fitted.RUNTIME_BYTES
    held = {"weights": weights, "activations": kept * first, "optimizer": optimizer}
    moves = {"weights": micro_batches * weights, "activations": micro_batches * layers * kept, "optimizer": optimizer}
    for name, size in held.items():
        if local[name] < 1:
            memory.tier_footprint_bytes += size * (1 - local[name])
            memory.tier_bytes += 2 * moves[name]
            if name == "optimizer":
                memory.update_bytes = 2 * moves[name]
            else:
                memory.forward_bytes += moves[name]
    return memory


def _layers_in_flight(c: Any, micro_batches: int, layers: float) -> tuple[float, float]:
    """Layers x micro-batches whose activations the first and the last stage keep: the order of 1F1B, counted.

    A stage first runs forward 2 (p - 1 - stage) + (v - 1) p chunks (p - 1 - stage, where v = 1), then one more
    before each backward pass. Source: Narayanan et al. 2021 (arXiv:2104.04473), section 2.2.2.
    """
    peaks = []
    for stage in (0, c.pipeline - 1):
        after = c.pipeline - 1 - stage
        warm_up = after if c.interleave == 1 else 2 * after + (c.interleave - 1) * c.pipeline
        forwards, alive, peak = 0, 0, 0
        while forwards < micro_batches * c.interleave:
            forwards, alive = forwards + 1, alive + 1
            peak = max(peak, alive)
            if forwards > warm_up:
                alive -= 1
        peaks.append(peak * layers / c.interleave)
    return peaks[0], peaks[1]


def _kept_bytes(job: Any, c: Any, rank: Any) -> tuple[float, float]:
    """Activations kept for a layer and a micro-batch; and what the layer that is redone needs beside it."""
    shape, inner = job.shape, 3 if job.shape.gated else 2
    width = (shape.ffn * shape.experts_per_token + shape.shared_ffn) / c.tensor
    normed = [shape.hidden] * 4  # inputs of both norms, and of what follows each
    if shape.experts > 1:
        normed.append(shape.experts_per_token * shape.hidden)
    inputs = sum(rank.normed * size for size in normed)
    inputs += rank.tokens * (2 * rank.query + 2 * rank.keys + inner * width)
    scores = c.micro_batch * job.sequence / c.context * job.sequence * shape.heads / c.tensor
    spilled = 0 if job.attention == "fused" else scores * (2 * rank.activation + 1)
    kept = rank.activation * inputs
    recompute = RECOMPUTE[c.recompute]
    if recompute == "none":
        return kept + spilled, 0.0
    if recompute == "selective":
        return kept, spilled
    first_input = rank.activation * rank.normed * shape.hidden
    return first_input, kept + spilled - first_input
