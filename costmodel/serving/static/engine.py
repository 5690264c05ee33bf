"""What serves: the accelerators of one copy of a model, and how operators behave on them."""

from typing import Self

from pydantic import Field, model_validator

from costmodel.hardware.device import BYTES_OF_PRECISION, Precision
from costmodel.spec import Bytes, BytesPerSecond, FlopsPerSecond, Seconds, Spec


class Engine(Spec):
    """One copy of a model on tensor x pipeline ranks, all alike; every rate and size is of one rank."""

    flops_per_s: FlopsPerSecond
    """peak of the matrix units in the precision of the products"""
    memory_bytes_per_s: BytesPerSecond
    capacity_bytes: Bytes = Field(gt=0)
    tensor: int = Field(default=1, ge=1)
    """ranks that divide each matrix"""
    pipeline: int = Field(default=1, ge=1)
    """stages that divide the layers, each working on its own micro-batch"""
    link_bytes_per_s: BytesPerSecond | None = None
    """egress to the tensor group, one direction; absent: all-reduces are left out"""
    stage_link_bytes_per_s: BytesPerSecond | None = None
    """egress to the next stage, one direction"""
    max_batch: int | None = Field(default=None, ge=1)
    """most sequences at once, where the scheduler has such a limit"""

    @model_validator(mode="after")
    def _stages_are_linked(self) -> Self:
        if self.pipeline > 1 and self.stage_link_bytes_per_s is None:
            raise ValueError(f"stage_link: {self.pipeline} stages need a link between them; give its rate")
        return self

    @property
    def num_ranks(self) -> int:
        return self.tensor * self.pipeline


class KernelRules(Spec):
    """How operators behave; one set holds for all systems that are compared."""

    weights: Precision = "fp16"
    kv_cache: Precision = "fp16"
    activations: Precision = "fp16"
    memory_efficiency: float = Field(default=1.0, gt=0, le=1)
    """share of the memory's bandwidth that long transfers reach"""
    memory_ramp_bytes: Bytes = 0.0
    """bytes whose time each operator adds to its own; it reaches half of the bandwidth at so many bytes"""
    matrix_efficiency: float = Field(default=1.0, gt=0, le=1)
    """share of the matrix peak that large products reach"""
    matrix_ramp_flops: float = Field(default=0.0, ge=0)
    """operations whose time each product adds to its own; it reaches half of the peak at so many"""
    all_reduce_start_s: Seconds = 0.0
    """fixed time of an all-reduce"""
    link_efficiency: float = Field(default=1.0, gt=0, le=1)
    """share of the link's rate that an all-reduce reaches"""
    layer_overhead_s: Seconds = 0.0
    """fixed time of a layer"""
    memory_reserve: float = Field(default=0.0, ge=0, lt=1)
    """share of the capacity that holds neither weights nor keys and values"""
    overlaps_memory: bool = True
    """whether an operator computes while it loads; if not, the two times add up"""
    fuses_attention: bool = True
    """whether attention is one operator that keeps its scores on the chip"""
    fuses_residuals: bool = True
    """whether residual additions are part of the norms"""
    skips_masked: bool = True
    """whether causal attention leaves out what is masked"""

    @property
    def weight_bytes(self) -> float:
        """Of one parameter."""
        return BYTES_OF_PRECISION[self.weights]

    @property
    def kv_bytes(self) -> float:
        """Of one element of keys and values."""
        return BYTES_OF_PRECISION[self.kv_cache]

    @property
    def activation_bytes(self) -> float:
        """Of one element of activations."""
        return BYTES_OF_PRECISION[self.activations]
