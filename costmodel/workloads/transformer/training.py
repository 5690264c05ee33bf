"""Training of transformers under tensor, context, pipeline, data and expert parallelism."""

from dataclasses import replace

import numpy as np

from costmodel.hardware.device import Device
from costmodel.hardware.memory.columns import Memories, peaks
from costmodel.parallelism.degrees import RankOrder, combinations, degree_table, every_mapping
from costmodel.parallelism.mappings import Bools, Dimension, Floats, Ints, Mappings
from costmodel.pricing.calibration import Calibrations, FitOrigin, Ranges, origin_of
from costmodel.pricing.efficiency import variant_of
from costmodel.pricing.opgraph import OpGraph
from costmodel.workloads.transformer.blocks import one_layer, training_blocks
from costmodel.workloads.transformer.evaluation import EVALUATION, TRAINING, with_evaluation
from costmodel.workloads.transformer.memory import training_memory
from costmodel.workloads.transformer.shapes import tensor_degrees
from costmodel.workloads.transformer.stage import Stage
from costmodel.workloads.transformer.training_spec import TrainingSpec

RECORDED_LAUNCH = 0.1
"""of a kernel's launch that is left where graphs of kernels were recorded (assumed: a few us of 34)"""
BESIDE_OTHER_DIRECTION = 0.95
"""share of expert messages that hides in DualPipe (assumed: "fully hidden" but for its ends)"""
SENDING_PROCESSORS = 20 / 132
"""share of the processors that send and receive meanwhile: of an H800 (arXiv:2412.19437, section 3.2.2)"""
SCALED_BY_BLOCKS = 1550 / 1979
"""share of the fp8 peak of an H800 that products reach at most whose kernel scales sums of 128 elements itself (1,550
TFLOP/s: deepseek-ai/DeepGEMM, 2025). So DeepSeek-V3 takes 1.3 % longer on H100 than with one scale for a tensor;
2.4 % was published (NVIDIA Megatron-Bridge, docs/performance-summary.md, 25.09)"""
DIVIDING = ("micro_batch", "interleave", "expert", "schedule")
"""choices that must divide model and batch together with the degrees"""
PREFETCHED = 0.95
"""share of the messages of ZeRO-3 that hides behind passes, where prefetched: all but the ends"""


class TransformerTraining(TrainingSpec):
    """Training with Adam. Each of the fields in MENUS is one choice, or a list of which the planner takes one.

    Pipelines of 1F1B, interleaved where `interleave` chunks of layers are more than one, or of another schedule.
    Experts get equal shares of the tokens.
    """

    @property
    def speed_unit(self) -> str:
        return "tokens/s"

    @property
    def phases(self) -> tuple[str, ...]:
        """Between evaluations all steps are alike."""
        return () if self.evaluation is None else (TRAINING, EVALUATION)

    @property
    def rounds_per_step(self) -> float:
        return 0.0 if self.evaluation is None else 1.0 / self.evaluation.every

    @property
    def divided(self) -> str:
        """What degrees of parallelism must divide, for messages."""
        return f"its {self.shape.heads} heads, {self.shape.layers} layers and {self.global_batch} sequences"

    @property
    def flops_per_work(self) -> float:
        """Matrix operations that a token needs: three times the forward pass; what is redone is no work."""
        shape, context = self.shape, self.sequence * (0.5 if self.shape.causal else 1.0)
        further = one_layer(shape).forward_flops(context) + 4.0 * shape.hidden**2
        return 3 * (shape.forward_flops(context) + self.multi_token_prediction * further)

    def mappings(self, *sizes: int) -> Mappings:
        """Every mapping on so many devices, those of one size after those of the other; none where nothing divides."""
        shape, menus = self.shape, self.menus()
        context = menus.pop("context")
        degrees = degree_table(sizes, tensor_degrees(shape), context, shape.layers)
        found = every_mapping(degrees, {name: menus.pop(name) for name in DIVIDING})
        found, choices = found.take(self._divides(found)), combinations(menus)
        rows, chosen = np.nonzero(self._is_new(found, choices))
        return replace(found.take(rows), **{name: column[chosen] for name, column in choices.items()})

    def _divides(self, m: Mappings) -> Bools:
        """Which mappings divide the model and the batch, shape (M,)."""
        shape, one_data = self.shape, m.data * m.micro_batch
        micro_batches = self.global_batch // np.maximum(one_data, 1)
        stages = m.pipeline * m.interleave.astype(np.int32)
        whole_rounds = self.partial_rounds | (micro_batches % m.pipeline == 0)
        chunks = (m.interleave == 1) | ((m.pipeline > 1) & whole_rounds & m.has_schedule("1f1b"))
        if (is_dual := m.has_schedule("dual_pipe")).any():
            both_ends = (m.pipeline % 2 == 0) & (micro_batches % 2 == 0) & (micro_batches >= 2 * m.pipeline)
            chunks &= ~is_dual | both_ends
        layers = (stages <= shape.layers) if self.uneven_stages else (shape.layers % stages == 0)
        sharing = m.expert.astype(np.int32) * (m.tensor if self.whole_experts and not shape.is_dense else 1)
        experts = (shape.experts % sharing == 0) & (m.data % m.expert == 0)
        shards, group = m.data * m.context, self.shard_ranks or 1
        copies = (shards <= group) | (shards % group == 0)
        return np.asarray(
            (self.global_batch % one_data == 0)
            & chunks
            & layers
            & experts
            & copies
            & (self.sequence % m.context.astype(np.int32) == 0)
        )

    def _is_new(self, m: Mappings, choices: dict[str, Ints]) -> Bools:
        """Which mappings under which of the other choices are not those of another choice with nothing to divide, shape
        (M, choices)."""
        menus, zero = self.menus(), choices["zero"]
        split = (m.tensor > 1)[:, None] | (choices["sequence_parallel"] == menus["sequence_parallel"][0])
        piped = (m.pipeline > 1) | (m.schedule == menus["schedule"][0])
        return np.asarray(split & piped[:, None] & ((m.data * m.context > 1)[:, None] | (zero <= 1)))

    def footprint(self, mappings: Mappings) -> tuple[Floats, Floats]:
        """Peak memory of the busiest accelerator and what it keeps in a second tier, in bytes, shapes (M,)."""
        memory = training_memory(self, Stage.of(self, mappings))
        return memory.footprint_bytes, memory.tier_footprint_bytes

    @property
    def rank_orders(self) -> tuple[RankOrder, ...]:
        """Orders of the ranks among which is chosen."""
        return self.listed_orders

    def sends_halves(self, dimension: Dimension) -> bool:
        """Whether ranks only reduce-scatter and all-gather along a dimension, which no tree does."""
        menus = self.menus()
        return {"data": 0 not in menus["zero"], "tensor": 0 not in menus["sequence_parallel"]}.get(dimension, False)

    def sends(self, dimension: Dimension) -> bool:
        """Whether groups of several ranks along a dimension exchange anything."""
        return True

    def op_graph(
        self, mappings: Mappings, device: Device, calibrations: Calibrations | None = None, memories: Memories = None
    ) -> OpGraph:
        """One step on the last stage, which also holds the vocabulary projection, with its share of evaluation.

        Source: Narayanan et al. 2021 (arXiv:2104.04473), section 2.2; Korthikanti et al. 2022
        (arXiv:2205.05198).
        """
        device.matrix_flops_per_s(self.precision)
        stage = Stage.of(self, mappings, None if memories is None else memories[1])
        memory = training_memory(self, stage)
        graph = OpGraph(
            blocks=training_blocks(self, stage),
            bubble=stage.bubble,
            relief=stage.relief,
            footprint_bytes=memory.footprint_bytes,
            tier_footprint_bytes=memory.tier_footprint_bytes,
            tier_bytes=memory.tier_bytes,
            tier_windows=memory.tier_windows,
            work=np.full(len(mappings), float(self.global_batch * self.sequence)),
            precision=self.precision,
            regime="training",
            overlap=_overlap(self, mappings, device),
            runs_ahead=True,
            narrow_share=SCALED_BY_BLOCKS if self.scaling == "block" else 1.0,
            awaits_all=self.overlap.get("expert", 0.0) > 0,
            launch_share=RECORDED_LAUNCH if self.cuda_graphs else 1.0,
            framework=self.framework,
            copies_inside=self.shape.copies_inside,
            processors=np.where(self._sends_beside(mappings), 1.0 - SENDING_PROCESSORS, 1.0),
            memory_bytes_per_s=peaks(memories),
        )
        return graph if self.evaluation is None else with_evaluation(self, stage, memory, graph)

    def fitted_on(self, device: Device, num_devices: int) -> tuple[FitOrigin | None, Ranges]:
        """What the efficiencies that price it were fitted on, on this very device, and least and most of what it asks
        for, by names of ranges of fits; None where nothing is recorded."""
        variant = variant_of(self.precision)
        own = origin_of(device, "training", f"{variant} {self.framework}") if self.framework else None
        asked: Ranges = {"accelerators": (num_devices, num_devices), "sequence": (self.sequence, self.sequence)}
        return own or origin_of(device, "training", variant), asked

    def _sends_beside(self, m: Mappings) -> Bools:
        """Whether some processors send and receive experts' tokens while the others compute, shape (M,)."""
        return np.asarray(m.has_schedule("dual_pipe") & (m.expert > 1))


def _overlap(job: TrainingSpec, m: Mappings, device: Device) -> dict[Dimension, float | Floats]:
    """Shares that hide; of the data ranks' messages more where parameters are prefetched, shape (M,). Some processors
    pass these on all the while, so that operators take longer."""
    overlap: dict[Dimension, float | Floats] = dict(job.overlap)
    if "tensor" in overlap and not (is_split := m.sequence_parallel > 0).all():
        overlap["tensor"] = np.where(is_split, overlap["tensor"], 0.0)
    if job.prefetch and (sharded := m.zero == 3).any():
        data = job.overlap.get("data", 0.0)
        hidden = PREFETCHED * (1.0 - device.sending_share)
        overlap["data"] = np.where(sharded, max(data, hidden), data)
    if (is_dual := m.has_schedule("dual_pipe")).any():
        expert = job.overlap.get("expert", 0.0)
        overlap["expert"] = np.where(is_dual, max(expert, BESIDE_OTHER_DIRECTION), expert)
    return overlap
