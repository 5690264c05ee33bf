"""What a training step executes and sends: layers, vocabulary, pipeline, optimizer and data ranks."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from costmodel.hardware.device import is_narrow, wide_precision
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.opgraph import Block, Message, Operator, Shapes
from costmodel.workloads.transformer.layers import LayerRun, backward
from costmodel.workloads.transformer.shapes import TransformerShape, key_dim, layer_parameters
from costmodel.workloads.transformer.stage import Stage
from costmodel.workloads.transformer.training_spec import TrainingSpec

GRADIENT_BYTES = 4.0
"""of a gradient in fp32, as frameworks accumulate them unless told otherwise"""
OPTIMIZER_BYTES = 30.0
"""traffic of Adam per owned parameter: two moments and the parameter in fp32, read and written, its gradient read, and
the parameter written in 16 bits (counted; steps on B200 agree)"""
GRADIENT_ACCESSES = 2.0
"""of each gradient, per step and per accumulation: read and written"""
PARAMETER_CAST_BYTES = 4.0
"""traffic of a parameter that becomes narrow, once a step: read in 16 bits, written straight and turned (counted)"""
BUCKET_PARAMETERS, BUCKET_PARAMETERS_PER_RANK = 40e6, 1e6
"""of gradients that are exchanged together: so many, or more where many ranks share them, as Megatron-LM has it
(megatron/core/distributed/distributed_data_parallel.py, bucket_size)"""
SHOWN_HAND_OVER = 0.3
"""share of what interleaved stages hand over that waits: they send and receive beside another chunk's pass (assumed)"""
SPILLED_ACCESSES = 6.5
"""accesses of each score, per pass, of unfused attention: product, scaled and masked softmax, dropout with its
mask of one byte, product; each reads and writes what the others left (counted)"""


def training_blocks(job: TrainingSpec, stage: Stage) -> tuple[Block, ...]:
    """All blocks of one step."""
    m, twice = stage.mappings, stage.layer_times
    layer = layer_passes(job, stage, stage.run)
    blocks = [
        stage.shapes.block("forward", layer.forward, layer.forward_messages, twice),
        stage.shapes.block("backward", layer.backward, layer.backward_messages, twice),
    ]
    if (full := m.has_recompute("full")).any():
        blocks.append(stage.shapes.block("forward again", layer.forward, layer.forward_messages, twice * full))
    if (again := _made_again(job, stage)) and (selective := m.has_recompute("selective")).any():
        blocks.append(stage.shapes.block("attention again", again, [], twice * selective))
    return (*blocks, *_ends(job, stage), *_data_blocks(job, stage))


class LayerPasses(NamedTuple):
    """What one layer executes and sends."""

    forward: list[Operator]
    forward_messages: list[Message]
    backward: list[Operator]
    backward_messages: list[Message]


def layer_passes(job: TrainingSpec, stage: Stage, run: LayerRun) -> LayerPasses:
    """Of a layer that runs so, for one micro-batch."""
    core, core_backward = _attention(job, stage)
    forward = [*run.operators(), *_positions(job, run)]
    keys = Message(
        "keys and values", "context", _kv_bytes(job, stage), _where_many(stage.shapes.columns["context"], 0.5)
    )
    is_split = stage.shapes.columns["sequence_parallel"] > 0
    keys_back = Message("keys, values and their gradients", "context", keys.message_bytes, 2 * np.asarray(keys.count))
    gradients = GRADIENT_ACCESSES * job.gradient_bytes * layer_parameters(run.shape, run.tensor, run.expert)
    accumulated = Operator("gradient accumulation", "elementwise", 0.0, gradients)
    return LayerPasses(
        [*forward, core],
        [*run.messages(2.0), keys],
        [*backward(forward), core_backward, accumulated],
        [*run.messages(np.where(is_split, 3.0, 2.0)), keys_back],
    )


def _made_again(job: TrainingSpec, stage: Stage) -> list[Operator]:
    """What selective recomputation runs again: the core of unfused attention; beside a fused one queries, keys and
    values where they are made from latents."""
    if job.attention == "unfused":
        return [_attention(job, stage)[0]]
    if not job.shape.kv_rank:
        return []
    names = ("query projection", "key and value projection")
    return [row for row in stage.run.operators() if row.name in names] + _positions(job, stage.run)


def _positions(job: TrainingSpec, run: LayerRun) -> list[Operator]:
    """Latent attention turns the end of each query, and joins the shared end of keys to those of all heads, while
    values leave the matrix in which they came; elements read and written are counted."""
    shape = run.shape
    if not shape.kv_rank:
        return []
    moved = shape.heads / run.tensor * (4.0 * shape.head_dim + 3.0 * shape.rope_dim)
    return [Operator("positions of latents", "elementwise", 0.0, job.activation_bytes * run.tokens * moved)]


def _where_many(degree: Floats, count: float) -> Floats:
    return np.where(degree > 1, count, 0.0)


def _kv_bytes(job: TrainingSpec, stage: Stage) -> Floats:
    """Keys and values of the whole sequences, gathered by the ranks among which they are divided, shape (K,)."""
    tokens = stage.run.tokens * stage.shapes.columns["context"]
    return job.activation_bytes * 2 * key_dim(job.shape, stage.run.tensor) * tokens


def _attention(job: TrainingSpec, stage: Stage) -> tuple[Operator, Operator]:
    """Scores and values: two products forward; four backward, and a fifth that redoes the scores.

    A fused kernel skips the masked half of the scores and never writes them. Where matrices are narrow, attention stays
    in bf16 unless the job says otherwise.
    Source: Dao 2023 (arXiv:2307.08691), sections 2.3 and 3.1.
    """
    shape, run, size = job.shape, stage.run, job.activation_bytes
    is_fused = job.attention == "fused"
    scores = stage.sequences * stage.rank_sequence * job.sequence * shape.heads / run.tensor
    product = 2 * scores * shape.core_dim * (0.5 if is_fused and shape.causal else 1.0)
    query, keys = shape.query_dim / run.tensor, key_dim(shape, run.tensor)
    kept = size * run.tokens * (2 * query + 2 * keys)
    spilled = 0.0 if is_fused else SPILLED_ACCESSES * size * scores
    runs = job.attention_precision or wide_precision(job.precision)
    again = (5 if is_fused else 4) * product
    return (
        Operator("attention", "attention", 2 * product, kept + spilled, precision=runs),
        Operator("attention backward", "attention", again, 2 * kept + 1.5 * spilled, precision=runs),
    )


def _ends(job: TrainingSpec, stage: Stage) -> list[Block]:
    """Vocabulary, embedding, and what stages hand over.

    Other stages never wait for the vocabulary, so the bubble spares it. Logits are read and written in fp32,
    forward and backward; embeddings are read, written, and their gradient likewise, where the first stage is
    also the last. In DualPipe both ends have the vocabulary, each for half of the micro-batches.
    """
    shape, run, m = job.shape, stage.run, stage.mappings
    hidden_bytes = job.activation_bytes * run.tokens * shape.hidden
    logits = run.tokens * shape.vocabulary / run.tensor
    projection = vocabulary_projection(job, stage)
    vocabulary = [
        projection,
        *backward([projection]),
        Operator("cross entropy", "elementwise", 0.0, 4 * 4.0 * logits),
    ]
    reduced = Message("vocabulary all-reduce", "tensor", hidden_bytes, _where_many(run.tensor, 1.0))
    handed = Message("pipeline hand-over", "pipeline", hidden_bytes / run.tensor, 2.0)
    shown = np.where(stage.interleave > 1, SHOWN_HAND_OVER, 1.0)
    hands = np.where(m.pipeline > 1, stage.micro_batches * stage.interleave * shown, 0.0)
    embedding = [Operator("embedding", "elementwise", 0.0, 4 * hidden_bytes)]
    share = stage.copies / stage.pipeline
    times, embeds = stage.micro_batches / stage.copies, np.where(m.pipeline == 1, stage.micro_batches, 0.0)
    modules = _further_tokens(job, stage, vocabulary, times, share) if job.multi_token_prediction else []
    return [
        *modules,
        stage.shapes.block("vocabulary", vocabulary, [reduced], times, in_bubble=False, stage_share=share),
        stage.shapes.block("embedding", embedding, [], embeds, in_bubble=False, stage_share=share),
        stage.shapes.block("hand-over", [], [handed], hands),
    ]


def vocabulary_projection(job: TrainingSpec, stage: Stage) -> Operator:
    """Logits of a micro-batch, from wide operands."""
    run, precision = stage.run, wide_precision(job.precision)
    sizes = float(job.shape.hidden), job.shape.vocabulary / run.tensor
    return run.matrix("vocabulary projection", run.tokens, sizes, weight_bytes=job.element_bytes, precision=precision)


def _further_tokens(
    job: TrainingSpec, stage: Stage, vocabulary: list[Operator], times: Floats, stage_share: Floats
) -> list[Block]:
    """Modules of the last stage that each predict one token more: both passes of a layer, of experts where others have
    them, after a matrix that joins its inputs; the vocabulary is the model's own. What the layers send counts where
    the last stage is spared fewer layers of its own than it has modules.
    """
    run = replace(stage.run, shape=one_layer(job.shape))
    layer, hidden = layer_passes(job, stage, run), float(job.shape.hidden)
    joined = run.matrix("joined hidden states", run.tokens, (2.0 * hidden, hidden / run.tensor))
    operators = [joined, *layer.forward, *layer.backward, *backward([joined]), *vocabulary]
    modules = float(job.multi_token_prediction)
    more = np.maximum(modules - stage.relief * stage.layers, 0.0)
    block = stage.shapes.block
    return [
        block("further tokens", operators, [], modules * times, in_bubble=False, stage_share=stage_share),
        block("further exchanges", [], [*layer.forward_messages, *layer.backward_messages], more * times,
              in_bubble=False, stage_share=stage_share),
    ]  # fmt: skip


def one_layer(shape: TransformerShape) -> TransformerShape:
    """One of its layers that have experts, where any have."""
    return shape.model_copy(update={"layers": 1, "dense_layers": 0, "dense_ffn": 0})


def _data_blocks(job: TrainingSpec, stage: Stage) -> list[Block]:
    """Optimizer, gradients to their owners and parameters back, once a step; under ZeRO-2 gradients leave after
    each micro-batch, under ZeRO-3 parameters come for each pass. Source: Rajbhandari et al. 2020 (arXiv:1910.02054).

    The two holders of a stage of DualPipe exchange their shares, which pass along the pipeline: p / 2 meet in the
    middle.
    """
    m, parameters, exchanged = stage.mappings, stage.copies * stage.parameters, stage.copies * stage.exchanged
    each = Shapes({}, np.arange(len(m), dtype=np.intp), len(m))
    owned = np.where(m.zero > 0, stage.shard, parameters)
    local = np.where(m.zero == 3, owned, parameters)
    traffic = OPTIMIZER_BYTES * owned + GRADIENT_ACCESSES * job.gradient_bytes * local
    updated = [Operator("optimizer", "elementwise", 0.0, traffic)]
    if _casts_parameters(job):
        cast = PARAMETER_CAST_BYTES * (parameters - stage.copies * stage.vocabulary_parameters)
        updated.append(Operator("casts of parameters", "elementwise", 0.0, cast))
    passes = stage.micro_batches * np.where(m.has_recompute("full"), 3.0, 2.0)
    gradients = np.where(m.zero >= 2, stage.micro_batches, 1.0) * np.where(m.zero == 0, 1.0, 0.5)
    gathers = np.where(m.zero == 0, 0.0, np.where(m.zero == 3, passes, 1.0)) * 0.5
    buckets, is_shared = buckets_of(job, stage, parameters), stage.shards > 1
    messages = [
        Message("gradients", "data", job.gradient_bytes * exchanged, gradients * is_shared, buckets),
        Message("parameters", "data", job.gathered_bytes * exchanged, gathers * is_shared, buckets),
    ]
    if (is_dual := m.has_schedule("dual_pipe")).any():
        both_bytes = (job.gradient_bytes + job.gathered_bytes) * stage.shard
        messages.append(Message("between holders of a stage", "pipeline", both_bytes, is_dual * m.pipeline / 2.0))
    return [each.block("optimizer", updated, messages, 1.0, in_bubble=False)]


def buckets_of(job: TrainingSpec, stage: Stage, parameters: Floats) -> Floats:
    """In which gradients, and parameters, are exchanged; shape (M,)."""
    if job.gradient_bucket_bytes is not None:
        return np.ceil(job.gradient_bytes * parameters / job.gradient_bucket_bytes)
    bucket = np.maximum(BUCKET_PARAMETERS, BUCKET_PARAMETERS_PER_RANK * stage.shards)
    return np.maximum(parameters / bucket, 1.0)


def _casts_parameters(job: TrainingSpec) -> bool:
    """Whether parameters become narrow here: they are neither kept so nor come so."""
    return is_narrow(job.precision) and not (job.gather_precision and is_narrow(job.gather_precision))
