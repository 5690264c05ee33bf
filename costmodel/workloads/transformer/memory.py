"""Peak memory of a training step, and what a second memory tier takes over."""

from dataclasses import dataclass

import numpy as np

from costmodel.parallelism.mappings import Floats, Mappings, Offload
from costmodel.workloads.transformer.shapes import key_dim
from costmodel.workloads.transformer.stage import Stage
from costmodel.workloads.transformer.training_spec import TrainingSpec

LOGIT_BYTES = 4.1
"""peak memory per logit: its fp32 softmax, which becomes its gradient in place (fit on B200 peaks)"""
RUNTIME_BYTES = 0.15 * 2**30
"""memory of the runtime and its communication buffers (fit on B200 peaks)"""
RESIDENT_LAYERS = 2.0
"""layers whose offloaded parameters or activations are in local memory at once: one in use, one on its way"""


@dataclass(frozen=True)
class TrainingMemory:
    """Columns of shape (M,)."""

    footprint_bytes: Floats
    tier_footprint_bytes: Floats
    tier_bytes: Floats
    """moved to and from the second tier in a step"""
    tier_windows: tuple[tuple[Floats, Floats], ...]
    """bytes of these that move during a share of the operators' time alone"""
    kept_bytes: dict[Offload, Floats]
    """what may be offloaded, were it kept"""
    state_bytes: Floats
    """in local memory whatever runs: parameters, gradients and optimizer state, with what passes need of their own"""
    layer_bytes: Floats
    """activations of one layer and micro-batch"""
    input_bytes: Floats
    """of these its input, from which the others can be made again"""


def training_memory(job: TrainingSpec, stage: Stage) -> TrainingMemory:
    """Parameters, gradients and optimizer state; activations of the micro-batches in flight on the first stage
    (most of them) or the last (logits too), and the gradients of the stage's vocabulary matrices before they are
    accumulated; less what is offloaded."""
    m = stage.mappings
    weights = stage.copies * job.element_bytes * np.where(m.zero == 3, stage.shard, stage.parameters)
    gradients = stage.copies * job.gradient_bytes * np.where(m.zero >= 2, stage.shard, stage.parameters)
    state_bytes = 8.0 if job.precision == "fp32" else 12.0
    optimizer = state_bytes * np.where(m.zero >= 1, stage.shard, stage.copies * stage.parameters)
    layer, inputs, working, matrices = _layer_bytes(job, stage)
    of_shape = stage.run.tokens * job.shape.vocabulary / stage.run.tensor
    logits = of_shape[stage.shapes.of] * LOGIT_BYTES * job.activation_bytes / 2
    gradient = job.element_bytes * stage.vocabulary_parameters
    in_flight, last_in_flight = _layers_in_flight(stage)
    resident = np.minimum(RESIDENT_LAYERS / stage.layers, 1.0)
    gathered = resident * (stage.copies * stage.parameters * job.element_bytes - weights)
    kept: dict[Offload, Floats] = {"weights": weights, "activations": in_flight * layer, "optimizer": optimizer}
    offloaded = _offloaded(m, resident, in_flight)
    local = kept | {name: kept[name] * (1 - moved) for name, moved in offloaded.items()}
    stays = last_in_flight
    if offloaded:
        stays = np.where(offloaded["activations"] > 0, np.minimum(RESIDENT_LAYERS, last_in_flight), last_in_flight)
    ahead = job.multi_token_prediction * (layer + logits) + logits
    last = stays * layer + _waiting_weights(stage) * matrices + ahead
    first = local["activations"] + np.where(stage.pipeline == 1, ahead, 0.0)
    fixed = local["weights"] + gathered + gradients + local["optimizer"] + gradient + working + RUNTIME_BYTES
    tier_bytes, tier_windows = _moved(stage, kept, layer, offloaded)
    return TrainingMemory(
        footprint_bytes=fixed + np.maximum(first, last),
        tier_footprint_bytes=sum((kept[name] * moved for name, moved in offloaded.items()), np.zeros(len(m))),
        tier_bytes=tier_bytes,
        tier_windows=tier_windows,
        kept_bytes=kept,
        state_bytes=fixed,
        layer_bytes=layer,
        input_bytes=inputs,
    )


def _offloaded(m: Mappings, resident: Floats, in_flight: Floats) -> dict[Offload, Floats]:
    """Share of what may be offloaded that is, less what stays in local memory while it is used; none where none is."""
    if not m.offload.any():
        return {}
    stays: dict[Offload, Floats] = {
        "weights": resident,
        "activations": np.minimum(RESIDENT_LAYERS / in_flight, 1.0),
        "optimizer": np.zeros(len(m)),
    }
    return {name: m.has_offload(name).astype(np.float64) * (1.0 - share) for name, share in stays.items()}


def _moved(
    stage: Stage, kept: dict[Offload, Floats], layer: Floats, offloaded: dict[Offload, Floats]
) -> tuple[Floats, tuple[tuple[Floats, Floats], ...]]:
    """What a step moves to and from the second tier, and windows of it.

    What leaves or comes in forward passes does so in a third of the operators or a quarter where these run again, since
    local memory has room for no more than two layers on their way; and what an update needs: between a layer's last
    backward pass and the next step's first forward pass, which take as long as a micro-batch and move its tensors too.
    """
    if not offloaded:
        return np.zeros(len(stage.mappings)), ()
    passing = 2 * stage.micro_batches * kept["weights"] * (offloaded["weights"] > 0)
    passing = passing + 2 * stage.layer_times * layer * (offloaded["activations"] > 0)
    updating = 2 * kept["optimizer"] * (offloaded["optimizer"] > 0)
    forward = 1.0 / (3.0 + stage.mappings.has_recompute("full").astype(np.float64))
    once = 1.0 / stage.micro_batches
    at_update: Floats = np.where(updating > 0, updating + passing * once, 0.0)
    return passing + updating, ((passing / 2, forward), (at_update, once))


def _layers_in_flight(stage: Stage) -> tuple[Floats, Floats]:
    """Layers x micro-batches whose activations the first and the last stage keep, shapes (M,).

    p micro-batches of 1F1B and one; of v interleaved chunks p v + p - 1 and p (v - 1) + 1; ZB-H1 keeps what 1F1B does,
    DualPipe p + 1 micro-batches everywhere. Sources: Korthikanti et al. 2022 (arXiv:2205.05198), section 4.2; Qi et al.
    2024 (arXiv:2401.10241), section 2.3; DeepSeek-AI 2024 (arXiv:2412.19437), table 2.
    """
    pipeline, chunks = stage.pipeline, stage.interleave
    in_chunks = np.where(chunks > 1, pipeline * chunks + pipeline - 1, pipeline)
    last_in_chunks = pipeline * (chunks - 1) + 1
    if (is_dual := stage.mappings.has_schedule("dual_pipe")).any():
        in_chunks = np.where(is_dual, pipeline + 1, in_chunks)
        last_in_chunks = np.where(is_dual, pipeline + 1, last_in_chunks)
    all_chunks = stage.micro_batches * chunks
    first, last = (np.minimum(kept, all_chunks) * stage.layers / chunks for kept in (in_chunks, last_in_chunks))
    return first, last


def _waiting_weights(stage: Stage) -> Floats:
    """Layers x micro-batches whose weights the last stage of ZB-H1 has not yet given their gradients, shape (M,).

    It holds the inputs of matrices of p micro-batches as every stage does, of p - 1 for their weights' gradients alone.
    Source: Qi et al. 2024 (arXiv:2401.10241), section 2.3.
    """
    waiting = np.minimum(stage.pipeline, stage.micro_batches) - 1.0
    return np.asarray(stage.mappings.has_schedule("zero_bubble") * waiting * stage.layers)


def _layer_bytes(job: TrainingSpec, stage: Stage) -> tuple[Floats, Floats, Floats, Floats]:
    """Activations kept per layer and micro-batch, of these the layer's input, those of the one layer redone, and the
    inputs of matrices and norms; (M,). Selective recomputation leaves out what a fused kernel never writes, and beside
    one queries, keys and values that are made from latents.

    Kept are the inputs of matrices, of attention, norms and activation: 32 s b h of the 34 in Korthikanti et al.
    2022 (arXiv:2205.05198), section 4, the rest being masks of dropout. What sequence parallelism divides is
    whole on each rank without it.
    """
    shape, run, size = job.shape, stage.run, job.activation_bytes
    tokens = run.tokens
    keys = 2 * key_dim(shape, run.tensor)
    inner = (2 * shape.query_dim) / run.tensor + keys
    visited = shape.expert_load * shape.experts_per_token * shape.ffn + shape.shared_ffn
    mean = shape.expert_layers * visited + (1 - shape.expert_layers) * shape.ffn_of_other_layers
    width = shape.ffn_matrices * mean / run.tensor
    routed = shape.expert_layers * shape.expert_load * shape.experts_per_token * shape.hidden
    normed = (4.0 * shape.hidden + routed) * run.normed_tokens
    kept = size * (normed + tokens * (inner + width))
    scores = stage.sequences * stage.rank_sequence * job.sequence * shape.heads / run.tensor
    spilled = 0.0 if job.attention == "fused" else (2 * size + 1) * scores
    if job.attention == "fused" and shape.kv_rank:
        latents = float(shape.query_rank or shape.query_dim) + shape.kv_rank + shape.rope_dim
        made = size * tokens * np.maximum(shape.query_dim / run.tensor + keys - latents, 0.0)
        kept, spilled = kept - made, made
    of, m = stage.shapes.of, stage.mappings
    inputs = np.broadcast_to(size * run.normed_tokens * shape.hidden, kept.shape)[of]
    is_full, is_selective = m.has_recompute("full"), m.has_recompute("selective")
    everything = (kept + spilled)[of]
    layer = np.where(is_full, inputs, np.where(is_selective, kept[of], everything))
    working = np.where(is_full, everything - layer, np.where(is_selective, everything - kept[of], 0.0))
    return layer, inputs, working, kept[of]
