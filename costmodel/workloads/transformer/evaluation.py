"""Evaluation between steps of training: forward passes on the same ranks, over batches that nothing is learnt from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from costmodel.parallelism.mappings import Floats, Ints
from costmodel.pricing.opgraph import Block, Message, Operator, OpGraph, Shapes
from costmodel.pricing.pace import Paced
from costmodel.workloads.transformer.blocks import SHOWN_HAND_OVER, buckets_of, layer_passes, vocabulary_projection
from costmodel.workloads.transformer.memory import RESIDENT_LAYERS, TrainingMemory
from costmodel.workloads.transformer.stage import Stage
from costmodel.workloads.transformer.training_spec import TrainingSpec

TRAINING, EVALUATION = "training", "evaluation"


@dataclass(frozen=True)
class TrainingRounds:
    """A step of training, and its share of the batches of evaluation that follow so many steps."""

    batches: float
    """of evaluation for each step of training"""

    phases = (TRAINING, EVALUATION)

    def steps(self) -> dict[str, Floats]:
        """Of each phase in a step of the workload, all mappings alike."""
        return {TRAINING: np.ones(1), EVALUATION: np.full(1, self.batches)}

    def paced(self, step_s: Mapping[str, Floats], mapping: Ints, sent_s: Mapping[str, Floats] | None = None) -> Paced:
        """Nobody waits for tokens, and no software runs beside the steps."""
        rows, often = np.ones(len(mapping)), {TRAINING: 1.0, EVALUATION: self.batches}
        steps = {name: often[name] * rows for name in step_s}
        none = dict.fromkeys(step_s, 0.0 * rows)
        return Paced(0.0 * rows, np.nan * rows, np.nan * rows, steps, steps, none)


def with_evaluation(job: TrainingSpec, stage: Stage, memory: TrainingMemory, training: OpGraph) -> OpGraph:
    """A step of training with its share of evaluation: what each executes bears its name."""
    assert job.evaluation is not None
    batches = job.evaluation.batches / job.evaluation.every
    alone = {TRAINING: training, EVALUATION: _batch(job, stage, memory, training)}
    often = {TRAINING: 1.0, EVALUATION: batches}
    blocks = [
        replace(
            block, name=f"{name} {block.name}", phase=name, times=often[name] * block.times, times_in_phase=block.times
        )
        for name, graph in alone.items()
        for block in graph.blocks
    ]
    return replace(
        training,
        blocks=tuple(blocks),
        tier_bytes=training.tier_bytes + batches * alone[EVALUATION].tier_bytes,
        phase_tier_bytes={name: graph.tier_bytes for name, graph in alone.items()},
        phase_graphs=alone,
        pace=TrainingRounds(batches),
    )


def _batch(job: TrainingSpec, stage: Stage, memory: TrainingMemory, training: OpGraph) -> OpGraph:
    """One batch: it fills the pipeline and drains it, and takes the fixed time of a step. Beside the state of training
    there are then the activations of a layer in use and of one that is done. Of what is offloaded it moves weights
    alone, once for each micro-batch."""
    offloads, is_away = stage.mappings.has_offload, stage.layers > RESIDENT_LAYERS
    activations = np.maximum(memory.kept_bytes["activations"] - RESIDENT_LAYERS * memory.layer_bytes, 0.0)
    return replace(
        training,
        blocks=_blocks(job, stage),
        bubble=stage.flush,
        footprint_bytes=np.minimum(memory.state_bytes + 2 * memory.layer_bytes, training.footprint_bytes),
        tier_footprint_bytes=training.tier_footprint_bytes - activations * offloads("activations"),
        tier_bytes=stage.micro_batches * memory.kept_bytes["weights"] * (offloads("weights") & is_away),
        tier_windows=(),
    )


def _blocks(job: TrainingSpec, stage: Stage) -> tuple[Block, ...]:
    """Layers, the vocabulary and its loss, embedding, and what stages hand over; under ZeRO-3 parameters
    come for each pass."""
    run, m, block = stage.run, stage.mappings, stage.shapes.block
    layer = layer_passes(job, stage, run)
    hidden_bytes = job.activation_bytes * run.tokens * job.shape.hidden
    logits = run.tokens * job.shape.vocabulary / run.tensor
    loss = Operator("cross entropy", "elementwise", 0.0, 2 * 4.0 * logits)
    is_split = (run.tensor > 1) & (stage.shapes.columns["sequence_parallel"] > 0)
    gathered = Message("vocabulary all-gather", "tensor", hidden_bytes, np.where(is_split, 0.5, 0.0))
    share, times = stage.copies / stage.pipeline, stage.micro_batches / stage.copies
    embeds = np.where(m.pipeline == 1, stage.micro_batches, 0.0)
    shown = np.where(stage.interleave > 1, SHOWN_HAND_OVER, 1.0)
    hands = np.where(m.pipeline > 1, stage.micro_batches * stage.interleave * shown, 0.0)
    handed = Message("pipeline hand-over", "pipeline", hidden_bytes / run.tensor, 1.0)
    embedding = Operator("embedding", "elementwise", 0.0, 2 * hidden_bytes)
    return (
        block("forward", layer.forward, layer.forward_messages, stage.layer_times),
        block("vocabulary", [vocabulary_projection(job, stage), loss], [gathered], times,
              in_bubble=False, stage_share=share),
        block("embedding", [embedding], [], embeds, in_bubble=False, stage_share=share),
        block("hand-over", [], [handed], hands),
        _parameters(job, stage),
    )  # fmt: skip


def _parameters(job: TrainingSpec, stage: Stage) -> Block:
    """Those that data ranks divide, gathered for each pass."""
    m = stage.mappings
    each = Shapes({}, np.arange(len(m), dtype=np.intp), len(m))
    passes = 0.5 * stage.micro_batches * ((m.zero == 3) & (stage.shards > 1))
    size, parts = stage.copies * stage.exchanged, buckets_of(job, stage, stage.copies * stage.parameters)
    messages = [Message("parameters", "data", job.gathered_bytes * size, passes, parts)]
    return each.block("parameters", [], messages, 1.0, in_bubble=False)
