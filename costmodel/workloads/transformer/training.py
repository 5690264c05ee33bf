"""Training of transformers under tensor, context, pipeline, data and expert parallelism."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from costmodel.hardware.device import BYTES_OF_PRECISION, Device, Precision
from costmodel.hardware.offload import offload_code
from costmodel.parallelism.degrees import degree_table, divisors, every_mapping
from costmodel.parallelism.mappings import RECOMPUTE, Bools, Dimension, Floats, Mappings, Recompute
from costmodel.pricing.opgraph import OpGraph
from costmodel.spec import Count, Degree, Spec
from costmodel.workloads.transformer.blocks import training_blocks
from costmodel.workloads.transformer.memory import training_memory
from costmodel.workloads.transformer.shapes import Model, TransformerShape, shape_of, tensor_degrees
from costmodel.workloads.transformer.stage import Stage

MICRO_BATCHES = (1, 2, 4, 8, 16)
"""micro-batch sizes that are listed where none is given"""
CONTEXT = (1, 2, 4, 8, 16)
"""ranks that long sequences are divided among where none are given"""
CONTEXT_TOKENS = 8192
"""sequences at least as long may be divided among ranks"""
ZeroStage = Literal[0, 1, 2, 3]
MENUS = ("micro_batch", "interleave", "context", "expert", "recompute", "zero", "sequence_parallel", "offload")
"""fields that hold one choice or several, among which the planner chooses"""


class TransformerTraining(Spec):
    """Training with Adam. Each of the fields in MENUS is one choice, or a list of which the planner takes one.

    1F1B pipelines, interleaved where `interleave` chunks of layers are more than one. Experts get equal shares
    of the tokens.
    """

    kind: Literal["transformer_training"] = "transformer_training"
    model: Model
    global_batch: Count
    """sequences per step"""
    sequence: Count
    """tokens of a sequence"""
    precision: Precision = "bf16"
    """of matrix products; parameters are kept in it too, but in bf16 where it is fp8"""
    activation_precision: Precision | None = None
    """of what crosses memory and network; as the parameters where absent"""
    attention: Literal["fused", "unfused"] = "fused"
    """whether one kernel computes attention, redoes the scores in the backward pass and never writes them"""
    micro_batch: Count | tuple[Count, ...] | None = None
    """sequences of a micro-batch; the planner chooses where it is absent"""
    interleave: Degree | tuple[Degree, ...] = 1
    """chunks of layers per pipeline stage"""
    context: Degree | tuple[Degree, ...] | None = None
    """ranks among which each sequence is divided; the planner chooses where it is absent, for long sequences"""
    expert: Degree | tuple[Degree, ...] | None = None
    """data ranks among which the experts are divided; the planner chooses where it is absent"""
    recompute: Recompute | tuple[Recompute, ...] = "none"
    """selective redoes the core of unfused attention in the backward pass (a fused one always does); full keeps
    each layer's input alone and runs the forward pass twice"""
    zero: ZeroStage | tuple[ZeroStage, ...] = 1
    """what is divided over data ranks: 1 optimizer state, 2 gradients too, 3 parameters too"""
    sequence_parallel: bool | tuple[bool, ...] = True
    """whether norms and residuals are divided over the tensor ranks"""
    offload: str | tuple[str, ...] = "none"
    """what lives in the device's second memory tier: none, or of weights, activations, optimizer joined by +"""
    uneven_stages: bool = False
    """whether pipeline stages may differ by one layer per chunk"""
    partial_rounds: bool = False
    """whether interleaved stages may run a number of micro-batches that is no multiple of the stages"""
    overlap: dict[Dimension, Annotated[float, Field(ge=0, le=1)]] = Field(default={"context": 0.7})
    """share of the communication along a dimension that hides behind operators; that of the exchange of keys
    and values was met in training steps on B200"""

    @model_validator(mode="after")
    def _menus_hold_choices(self) -> Self:
        for name in MENUS:
            if getattr(self, name) == ():
                raise ValueError(f"{name}: is an empty list; give at least one choice")
        for choice in _menu(self.offload):
            offload_code(choice)
        return self

    @property
    def shape(self) -> TransformerShape:
        return shape_of(self.model)

    @property
    def speed_unit(self) -> str:
        return "tokens/s"

    @property
    def phases(self) -> tuple[str, ...]:
        """None: all steps are alike."""
        return ()

    @property
    def rounds_per_step(self) -> float:
        return 0.0

    @property
    def divided(self) -> str:
        """What degrees of parallelism must divide, for messages."""
        return f"its {self.shape.heads} heads, {self.shape.layers} layers and {self.global_batch} sequences"

    @property
    def flops_per_work(self) -> float:
        """Matrix operations that a token needs: three times the forward pass; what is redone is no work."""
        return 3 * self.shape.forward_flops(self.sequence * (0.5 if self.shape.causal else 1.0))

    @property
    def element_bytes(self) -> float:
        """Of a parameter."""
        return max(BYTES_OF_PRECISION[self.precision], 2.0)

    @property
    def activation_bytes(self) -> float:
        """Of an element of an activation."""
        return BYTES_OF_PRECISION[self.activation_precision] if self.activation_precision else self.element_bytes

    def menus(self) -> dict[str, tuple[int, ...]]:
        """Numbers of each column of mappings, those left open and those fixed."""
        context = CONTEXT if self.sequence >= CONTEXT_TOKENS else (1,)
        return {
            "micro_batch": tuple(_menu(self.micro_batch, MICRO_BATCHES)),
            "interleave": tuple(_menu(self.interleave)),
            "context": tuple(_menu(self.context, context)),
            "expert": tuple(_menu(self.expert, divisors(self.shape.experts))),
            "recompute": tuple(RECOMPUTE.index(r) for r in _menu(self.recompute)),
            "zero": tuple(_menu(self.zero)),
            "sequence_parallel": tuple(int(s) for s in _menu(self.sequence_parallel)),
            "offload": tuple(offload_code(o) for o in _menu(self.offload)),
        }

    def mappings(self, num_devices: int) -> Mappings:
        """Every mapping on num_devices; none where nothing divides."""
        menus = self.menus()
        context = menus.pop("context")
        degrees = degree_table(num_devices, tensor_degrees(self.shape, num_devices), context, self.shape.layers)
        found = every_mapping(degrees, menus)
        return found.take(self.allowed(found))

    def allowed(self, m: Mappings) -> Bools:
        """Which mappings divide the model and the batch, shape (M,)."""
        shape, one_data = self.shape, m.data * m.micro_batch
        micro_batches = self.global_batch // np.maximum(one_data, 1)
        stages = m.pipeline * m.interleave.astype(np.int32)
        whole_rounds = self.partial_rounds | (micro_batches % m.pipeline == 0)
        chunks = (m.interleave == 1) | ((m.pipeline > 1) & whole_rounds)
        layers = (stages <= shape.layers) if self.uneven_stages else (shape.layers % stages == 0)
        experts = (shape.experts % m.expert.astype(np.int32) == 0) & (m.data % m.expert == 0)
        split = (m.tensor > 1) | (m.sequence_parallel == self.menus()["sequence_parallel"][0])
        shared = (m.zero <= 1) | (m.data * m.context > 1)
        return np.asarray(
            (self.global_batch % one_data == 0)
            & chunks
            & layers
            & experts
            & shared
            & split
            & (self.sequence % m.context.astype(np.int32) == 0)
        )

    def footprint(self, mappings: Mappings) -> tuple[Floats, Floats]:
        """Peak memory of the busiest accelerator and what it keeps in a second tier, in bytes, shapes (M,)."""
        memory = training_memory(self, Stage.of(self, mappings))
        return memory.footprint_bytes, memory.tier_footprint_bytes

    @property
    def tensor_leaves_servers(self) -> bool:
        """Whether a tensor group wider than a server is listed: its all-reduces would wait for the network."""
        return False

    def sends(self, dimension: Dimension) -> bool:
        """Whether groups of several ranks along a dimension exchange anything."""
        return True

    def op_graph(self, mappings: Mappings, device: Device) -> OpGraph:
        """One step on the last stage, which also holds the vocabulary projection.

        Source: Narayanan et al. 2021 (arXiv:2104.04473), section 2.2; Korthikanti et al. 2022
        (arXiv:2205.05198).
        """
        device.matrix_flops_per_s(self.precision)
        stage = Stage.of(self, mappings)
        memory = training_memory(self, stage)
        return OpGraph(
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
            overlap=self.overlap,
        )


def _menu(value: Any, absent: Sequence[Any] = ()) -> Sequence[Any]:
    """The choices that are given; `absent` where none are."""
    if value is None:
        return absent
    return value if isinstance(value, tuple) else (value,)
