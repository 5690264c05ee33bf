"""Columns of the busiest stage of a training pipeline, from which blocks and memory are built."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision
from costmodel.parallelism.mappings import Floats, Ints, Mappings
from costmodel.pricing.opgraph import Shapes
from costmodel.workloads.transformer.layers import LayerRun
from costmodel.workloads.transformer.shapes import expert_parameters, layer_parameters
from costmodel.workloads.transformer.training_spec import TrainingSpec

NARROW_BYTES, PASS_BYTES = 4.0, 6.0
"""traffic per element that becomes narrow: read in 16 bits, written as it is and transposed (counted); and of each pass
more that blocks with scales of their own take, one in MXFP8 and two in fp4, which is rotated too. One number fitted on
steps of MLPerf Training in fp4 and on eight pairs of steps of Llama 8B and 405B with either scaling on B200, GB200 and
GB300, which take 2 to 7 % longer with blocks (NVIDIA Megatron-Bridge, docs/performance-summary.md)"""
CAST_BYTES: dict[Precision, float] = {
    "fp8": NARROW_BYTES, "int8": NARROW_BYTES, "fp4": NARROW_BYTES + 2 * PASS_BYTES,
}  # fmt: skip
MX_CAST_BYTES = NARROW_BYTES + PASS_BYTES
"""the same of MXFP8"""


def cast_bytes(job: TrainingSpec) -> float:
    """Traffic of a step for each element that becomes narrow; 0 where none does."""
    is_mx = job.scaling == "mx" and job.precision == "fp8"
    return MX_CAST_BYTES if is_mx else CAST_BYTES.get(job.precision, 0.0)


@dataclass(frozen=True)
class Stage:
    """Of each mapping, columns of shape (M,); of each distinct shape of a layer, `run`'s, of shape (K,), and where
    mappings have memories of their own, which `of` takes by number, of each of these."""

    mappings: Mappings
    pipeline: Floats
    interleave: Floats
    shards: Floats
    """ranks that hold the same parameters: data x context"""
    most_shards: float
    """of these, the ones over which ZeRO divides at most"""
    micro_batches: Floats
    layers: Floats
    """of the stage"""
    relief: Floats
    """share of these layers that the last stage is spared; of two stages on one device, half of them"""
    shapes: Shapes
    run: LayerRun
    sequences: Floats
    """of a micro-batch, shape (K,)"""
    rank_sequence: Floats
    """tokens of each sequence on one rank, shape (K,)"""
    parameters: Floats
    """of one rank: layers of the stage and its part of the vocabulary"""
    vocabulary_parameters: Floats
    """of these, its part of the vocabulary, with what the last stage holds to predict further tokens"""
    expert_parameters: Floats
    """of all, its experts', which `expert` times fewer ranks share"""

    @classmethod
    def of(cls, job: TrainingSpec, m: Mappings, memory: Ints | None = None) -> Self:
        shape, kinds = job.shape, {} if memory is None else {"memory": memory}
        shapes = Shapes.distinct({name: getattr(m, name) for name in _KEYS} | kinds)
        tensor, context, expert, sequences, is_split = (shapes.columns[name] for name in _KEYS)
        tokens = sequences * job.sequence / context
        pipeline, interleave = m.pipeline.astype(np.float64), m.interleave.astype(np.float64)
        chunk = shape.layers / (pipeline * interleave)
        layers = np.ceil(shape.layers / pipeline)
        fewest = 1.0 if job.multi_token_prediction else np.floor(chunk) * interleave
        last_layers = np.maximum(fewest, shape.layers - (pipeline - 1) * layers)
        per_layer = layer_parameters(shape, tensor, expert)[shapes.of]
        one_end = float(shape.vocabulary * shape.hidden)
        vocabulary = np.where(pipeline == 1, float(shape.vocabulary_parameters), one_end) / m.tensor
        if modules := job.multi_token_prediction:
            more = last_layers + modules - layers
            joined = modules * 2.0 * shape.hidden**2
            last = more * per_layer + (shape.vocabulary_parameters + joined) / m.tensor
            vocabulary = np.maximum(vocabulary, last)
        return cls(
            mappings=m,
            pipeline=pipeline,
            interleave=interleave,
            shards=m.data.astype(np.float64) * m.context,
            most_shards=float(job.shard_ranks or np.inf),
            micro_batches=job.global_batch / (m.data * m.micro_batch.astype(np.float64)),
            layers=layers,
            relief=(1.0 - last_layers / layers) / (1.0 + m.has_schedule("dual_pipe")),
            shapes=shapes,
            run=LayerRun(
                shape, tensor, expert, tokens, np.where(is_split > 0, tokens / tensor, tokens),
                min(job.element_bytes, BYTES_OF_PRECISION[job.precision]), job.activation_bytes,
                cast_bytes(job), job.whole_experts,
                BYTES_OF_PRECISION[job.dispatch_precision] if job.dispatch_precision else None,
            ),
            sequences=sequences,
            rank_sequence=job.sequence / context,
            parameters=layers * per_layer + vocabulary,
            vocabulary_parameters=vocabulary,
            expert_parameters=layers * expert_parameters(shape, tensor, expert)[shapes.of],
        )  # fmt: skip

    @property
    def bubble(self) -> Floats:
        """Idle time over busy time, shape (M,): (p - 1) / (v m) where m micro-batches fill whole rounds of p.

        Each round takes v p passes of a chunk, whether full or not, and the last one's r micro-batches leave after
        r - 1 more. With v = 1 that is p - 1 passes, whatever m. Source: Narayanan et al. 2021 (arXiv:2104.04473),
        section 2.2, for whole rounds.
        """
        if not self.mappings.schedule.any():
            return self.flush
        is_zero, is_dual = (self.mappings.has_schedule(name) for name in ("zero_bubble", "dual_pipe"))
        waits = np.where(is_zero, self._zero_bubble, self._dual_pipe_bubble) / self.micro_batches
        return np.where(is_zero | is_dual, waits, self.flush)

    @cached_property
    def flush(self) -> Floats:
        """The same of passes in one direction alone, and of 1F1B."""
        in_rounds = np.ceil(self.micro_batches / self.pipeline) * self.pipeline
        last = self.micro_batches - in_rounds + self.pipeline
        idle = in_rounds - self.micro_batches + (last - 1) / self.interleave
        return np.asarray(idle / self.micro_batches)

    @property
    def _zero_bubble(self) -> Floats:
        """Passes that a stage of ZB-H1 waits: (p - 1) (f + b - w), with fewer than p micro-batches m (m - 1) w less.

        Forward f, gradients of inputs b and of weights w take as long; what is recomputed belongs to b.
        Source: Qi et al. 2024 (arXiv:2401.10241), table 2; for few micro-batches its schedule was played through.
        """
        again, before = self._recomputed, self.pipeline - 1.0
        filled = np.minimum(self.micro_batches - 1.0, before)
        return (before * (2.0 + again) - filled) / (3.0 + again)

    @property
    def _dual_pipe_bubble(self) -> Floats:
        """Passes that a device of DualPipe waits: (p / 2 - 1) (F&B + B - 3 w), where B = b + w and F&B = f + b + w.

        Source: DeepSeek-AI 2024 (arXiv:2412.19437), table 2.
        """
        again = self._recomputed
        return np.maximum(self.pipeline / 2 - 1.0, 0.0) * (2.0 + 2.0 * again) / (3.0 + again)

    @property
    def _recomputed(self) -> Floats:
        """Forward passes that the backward pass runs again, shape (M,)."""
        return self.mappings.has_recompute("full").astype(np.float64)

    @property
    def copies(self) -> Floats:
        """Stages whose parameters and gradients a rank holds, shape (M,): in DualPipe two, one for each direction."""
        return 1.0 + self.mappings.has_schedule("dual_pipe").astype(np.float64)

    @cached_property
    def shard(self) -> Floats:
        """Parameters of a rank over the ranks that share them, shape (M,): what ZeRO leaves each of them."""
        own, expert = np.minimum(self.shards, self.most_shards), self.mappings.expert
        others = np.maximum(own / expert, 1.0)
        return (self.parameters - self.expert_parameters) / own + self.expert_parameters / others

    @cached_property
    def exchanged(self) -> Floats:
        """Parameters whose exchange among all data ranks costs what this rank's costs, shape (M,).

        A rank sends (n - 1) / n of what n ranks share, and n / expert ranks share an expert.
        """
        share = (self.shards - self.mappings.expert) / np.maximum(self.shards - 1.0, 1.0)
        return self.parameters - self.expert_parameters * (1.0 - share)

    @cached_property
    def layer_times(self) -> Floats:
        """Passes through a layer per step in one direction, shape (M,)."""
        return self.micro_batches * self.layers


_KEYS = ("tensor", "context", "expert", "micro_batch", "sequence_parallel")
"""columns on which the operators of a layer depend"""
