"""What a file says of the training of a transformer, and what it leaves to the planner."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision
from costmodel.hardware.offload import offload_code
from costmodel.parallelism.degrees import RANK_ORDERS, RankOrder, divisors
from costmodel.parallelism.mappings import OFFLOAD, RECOMPUTE, SCHEDULES, Dimension, Recompute, Schedule
from costmodel.spec import Bytes, Count, Degree, Spec
from costmodel.workloads.base import WorkloadBase
from costmodel.workloads.transformer.shapes import Model, TransformerShape, shape_of

MICRO_BATCHES = (1, 2, 4, 8, 16)
"""micro-batch sizes that are listed where none is given"""
CONTEXT = (1, 2, 4, 8, 16)
"""ranks that long sequences are divided among where none are given"""
CONTEXT_TOKENS = 8192
"""sequences at least as long may be divided among ranks"""
ZeroStage = Literal[0, 1, 2, 3]
MENUS = (
    "micro_batch", "interleave", "context", "expert", "recompute", "zero", "sequence_parallel", "offload", "schedule",
)  # fmt: skip
"""fields that hold one choice or several, among which the planner chooses"""


FRAMEWORK_SCHEDULES: dict[str, tuple[Schedule, ...]] = {
    "torch": ("1f1b", "zero_bubble"),
    "zero-bubble": ("1f1b", "zero_bubble"),
    "deepseek": ("1f1b", "dual_pipe"),
}
"""of those that have others than 1F1B and interleaving. Sources: pytorch/pytorch, torch/distributed/pipelining/
schedules.py; sail-sg/zero-bubble-pipeline-parallelism; deepseek-ai/DualPipe; NVIDIA/Megatron-LM, megatron/core/
pipeline_parallel/schedules.py, has none"""
TENSOR_OVERLAP = 0.8
"""share of tensor ranks' messages that hides where they are cut into parts that pass beside products (fit)"""
OVERLAP: dict[Dimension, float] = {"context": 0.7, "data": 0.7, "tensor": TENSOR_OVERLAP}
"""share that hides unless a job says otherwise: keys and values beside attention, as met in steps on B200; gradients
and parameters beside the layers' passes (fit on steps of MLPerf Training); tensor ranks' messages under sequence
parallelism. Published recipes of NeMo and Megatron-Bridge have all of these on (scripts/performance, CommOverlapConfig)
"""


class Evaluation(Spec):
    """Batches of held-out sequences that run forward alone, now and then."""

    every: Count
    """steps of training from one evaluation to the next"""
    batches: Count
    """of an evaluation, each of `global_batch` sequences"""


class TrainingSpec(WorkloadBase):
    """The fields of a training job, and the numbers that follow from them alone."""

    kind: Literal["transformer_training"] = "transformer_training"
    model: Model
    """a name of the catalog, or a shape of your own"""
    global_batch: Count
    """sequences per step"""
    sequence: Count
    """tokens of a sequence"""
    precision: Precision = "bf16"
    """of matrix products; parameters are kept in it too, but in bf16 where it is narrower"""
    activation_precision: Precision | None = None
    """of what crosses memory and network; as the parameters where absent"""
    attention: Literal["fused", "unfused"] = "fused"
    """whether one kernel computes attention, redoes the scores in the backward pass and never writes them"""
    attention_precision: Precision | None = None
    """of the core of attention; as the matrices where absent, but bf16 where these are narrower"""
    scaling: Literal["tensor", "mx", "block"] = Field(default="tensor", exclude_if=lambda scaling: scaling == "tensor")
    """what shares a scale in fp8: all of a tensor, blocks of 32 elements (MXFP8), or blocks of 128 whose sums the
    kernel scales itself (DeepSeek-V3, arXiv:2412.19437, section 3.3)"""
    gather_precision: Precision | None = None
    """of the parameters that data ranks gather; as they are kept where absent"""
    gradient_precision: Precision = Field(default="fp32", exclude_if=lambda precision: precision == "fp32")
    """in which gradients are accumulated and data ranks add them up; recipes of NeMo and Megatron-Bridge have bf16
    (`grad_reduce_in_fp32: false`)"""
    dispatch_precision: Precision | None = None
    """of what is sent to experts; as other activations where absent. What comes back always is"""
    micro_batch: Count | tuple[Count, ...] | None = None
    """sequences of a micro-batch; the planner chooses where it is absent"""
    interleave: Degree | tuple[Degree, ...] = 1
    """chunks of layers per pipeline stage"""
    context: Degree | tuple[Degree, ...] | None = None
    """ranks among which each sequence is divided; the planner chooses where it is absent, for long sequences"""
    expert: Degree | tuple[Degree, ...] | None = None
    """data ranks among which the experts are divided; the planner chooses where it is absent"""
    whole_experts: bool = False
    """whether tensor ranks hold whole experts (a tensor degree of experts of 1 in Megatron-LM, whose expert degree then
    is `expert` x the tensor degree), instead of a part of each of theirs"""
    multi_token_prediction: int = Field(default=0, ge=0, exclude_if=lambda modules: modules == 0)
    """modules on the last stage that each predict one token more (arXiv:2412.19437, section 2.2): a layer, a matrix
    that joins two hidden states, and the vocabulary once more"""
    recompute: Recompute | tuple[Recompute, ...] = "none"
    """selective redoes the core of unfused attention in the backward pass (a fused one always does), or beside a fused
    one how queries, keys and values are made from latents; full keeps each layer's input alone and runs the forward
    pass twice"""
    zero: ZeroStage | tuple[ZeroStage, ...] = 1
    """what is divided over data ranks: 1 optimizer state, 2 gradients too, 3 parameters too"""
    shard_ranks: Degree | None = None
    """data and context ranks over which ZeRO divides, where these hold several copies of what it divides (HSDP); all of
    them where absent, or where they are fewer"""
    gradient_bucket_bytes: Bytes | None = Field(
        default=None, gt=0, alias="gradient_bucket", exclude_if=lambda size: size is None
    )
    """of gradients that data ranks exchange together; as Megatron-LM has it where absent, more for more ranks"""
    sequence_parallel: bool | tuple[bool, ...] = True
    """whether norms and residuals are divided over the tensor ranks"""
    offload: str | tuple[str, ...] = "none"
    """what lives in the device's second memory tier: none, or of weights, activations, optimizer joined by +"""
    schedule: Schedule | tuple[Schedule, ...] | None = None
    """order of passes in a pipeline: one forward, one backward, interleaved where stages have several chunks;
    zero_bubble (ZB-H1) runs the gradients of weights where a stage would wait; dual_pipe feeds micro-batches from both
    ends, each device holding two stages, so that expert messages pass beside the other direction's products; the
    planner chooses of a list, or where it is absent of those that the framework has"""
    uneven_stages: bool = True
    """whether pipeline stages may differ by one layer per chunk; without, they are alike"""
    partial_rounds: bool = False
    """whether interleaved stages may run a number of micro-batches that is no multiple of the stages"""
    rank_order: RankOrder | tuple[RankOrder, ...] | None = None
    """which groups are nearest, where packets join servers; the planner chooses of a list, or where it is absent"""
    overlap: dict[Dimension, Annotated[float, Field(ge=0, le=1)]] = Field(default=OVERLAP)
    """share of the communication along a dimension that hides behind operators"""
    prefetch: bool = True
    """whether parameters divided over data ranks come while the layer before them runs, as FSDP has it"""
    cuda_graphs: bool = False
    """whether kernels are recorded once and then start by themselves; those of experts never are, since the number of
    their tokens changes"""
    framework: str = ""
    """whose efficiencies hold where a device has some fitted under it, such as nemo-23.04, and whose schedules there
    are; where empty the newest fitted, which are Megatron-LM's kin"""
    evaluation: Evaluation | None = Field(default=None, exclude_if=lambda evaluation: evaluation is None)
    """follows training on the same accelerators; a step then has its share of the time"""
    limits: ClassVar[None] = None
    """on the times that users wait for tokens: there are none"""

    @model_validator(mode="after")
    def _menus_hold_choices(self) -> Self:
        for name in (*MENUS, "rank_order"):
            if getattr(self, name) == ():
                raise ValueError(f"{name}: is an empty list; give at least one choice")
        for choice in _menu(self.offload):
            if offload_code(choice) >= 1 << len(OFFLOAD):
                raise ValueError(f"offload: '{choice}' is a share, as serving has it; training offloads a part whole")
        return self

    @property
    def listed_orders(self) -> tuple[RankOrder, ...]:
        return tuple(_menu(self.rank_order, RANK_ORDERS))

    @property
    def shape(self) -> TransformerShape:
        return shape_of(self.model)

    @property
    def element_bytes(self) -> float:
        """Of a parameter."""
        return max(BYTES_OF_PRECISION[self.precision], 2.0)

    @property
    def activation_bytes(self) -> float:
        """Of an element of an activation."""
        return BYTES_OF_PRECISION[self.activation_precision] if self.activation_precision else self.element_bytes

    @property
    def gathered_bytes(self) -> float:
        """Of a parameter that data ranks gather."""
        return BYTES_OF_PRECISION[self.gather_precision] if self.gather_precision else self.element_bytes

    @property
    def gradient_bytes(self) -> float:
        """Of a gradient that is accumulated and exchanged."""
        return BYTES_OF_PRECISION[self.gradient_precision]

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
            "schedule": tuple(SCHEDULES.index(s) for s in _menu(self.schedule, schedules_of(self.framework))),
        }


def schedules_of(framework: str) -> tuple[Schedule, ...]:
    """Orders of passes that a framework has, by how its name begins."""
    found = (schedules for name, schedules in FRAMEWORK_SCHEDULES.items() if framework.startswith(name))
    return next(found, SCHEDULES[:1])


def _menu(value: Any, absent: Sequence[Any] = ()) -> Sequence[Any]:
    """The choices that are given; `absent` where none are."""
    if value is None:
        return absent
    return value if isinstance(value, tuple) else (value,)
