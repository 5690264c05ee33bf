"""Accelerators as data: peaks, the efficiency reached on them, and energy."""

from functools import cache
from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.catalog import documents, unknown_name
from costmodel.hardware.memory.tier import TierOrName
from costmodel.spec import (
    Bytes,
    BytesPerSecond,
    FlopsPerSecond,
    Hertz,
    JoulesPerByte,
    JoulesPerFlop,
    Latency,
    Spec,
    Watts,
)

Precision = Literal["fp32", "bf16", "fp16", "fp8", "int8", "fp4"]
BYTES_OF_PRECISION: dict[Precision, float] = {
    "fp32": 4.0, "bf16": 2.0, "fp16": 2.0, "fp8": 1.0, "int8": 1.0, "fp4": 0.5625,
}  # fmt: skip
"""of an element; fp4 with one fp8 scale for each 16 (NVIDIA, Introducing NVFP4, 2025; MXFP4 has one for each 32)"""


def is_narrow(precision: Precision) -> bool:
    """Whether operands have fewer than 16 bits: only the layers' matrix products run so."""
    return BYTES_OF_PRECISION[precision] < BYTES_OF_PRECISION["bf16"]


def wide_precision(precision: Precision) -> Precision:
    """What runs beside such products: the core of attention and the vocabulary stay in bf16 where these are narrow."""
    return "bf16" if is_narrow(precision) else precision


class Device(Spec):
    """One accelerator with its local memory; one efficiency for matrices and one for memory."""

    kind: Literal["device"] = "device"
    name: str = Field(min_length=1)
    """under which tables and reports show it"""
    like: str | None = None
    """the catalog's device whose fitted curves hold, with the peaks given here, where nothing was fitted on this one"""
    capacity_bytes: Bytes = Field(gt=0)
    """local memory"""
    memory_bytes_per_s: BytesPerSecond = Field(alias="memory_bandwidth")
    """published peak of the local memory"""
    flops_per_s: dict[Precision, FlopsPerSecond] = Field(alias="flops", min_length=1)
    """published dense peak of the matrix units, by precision; a precision that is absent does not run"""
    matrix_efficiency: float = Field(default=0.74, gt=0, le=1)
    """share of the matrix peak that large operators reach; that of H100 unless given"""
    memory_efficiency: float = Field(default=0.825, gt=0, le=1)
    """share of the memory peak that streaming operators reach; that of H100 unless given"""
    launch_s: Latency = 3e-6
    """time of an operator that does nothing; that of H100 unless given"""
    first_byte_s: Latency = 0.0
    """of `launch`, what each operator waits for a memory farther than stacks beside the die"""
    num_sm: int = Field(default=1, ge=1)
    """units that each run one tile of a matrix product at a time (streaming multiprocessors)"""
    collective_sm: int = Field(default=0, ge=0, exclude_if=lambda units: units == 0)
    """of these, the ones that collectives keep busy while they pass beside operators; 0 where other engines send"""
    clock_hz: Hertz = 1.83e9
    """clock at which the processors reach the matrix peak; that of H100 unless given"""
    link_bytes_per_s: BytesPerSecond = Field(default=450e9, alias="link_bandwidth")
    """peak of its links to the other devices of a node, one way; that of H100 unless given"""
    l2_bytes: Bytes = 0.0
    """capacity of the last cache before local memory; 0 where unknown"""
    l2_bytes_per_s: BytesPerSecond | None = Field(default=None, alias="l2_bandwidth")
    """peak of that cache, reads and writes together; absent where unknown"""
    offload: TierOrName | None = None
    """second memory tier, of this accelerator alone, to which jobs may offload; absent where it has none"""
    aliases: tuple[str, ...] = ()
    """other names that tables of measurements use for this device"""
    energy_j_per_flop: dict[Precision, JoulesPerFlop] = Field(
        default={
            "fp32": 2.97e-12,
            "bf16": 1.49e-12,
            "fp16": 1.49e-12,
            "fp8": 0.743e-12,
            "int8": 0.743e-12,
            "fp4": 0.372e-12,
        },
        alias="flop_energy",
    )
    """energy of a matrix operation above that of running, by precision; that of H100 unless given"""
    memory_j_per_byte: JoulesPerByte = Field(default=40e-12, alias="memory_energy")
    """energy of moving a byte from or to local memory; the estimate of H100 unless given"""
    idle_w: Watts = 80.0
    """power drawn at all times; the estimate of H100 unless given"""
    active_w: Watts = 247.0
    """power above idle while kernels run, whatever they compute; that of H100 unless given"""
    power_limit_w: Watts | None = Field(default=None, gt=0)
    """most that it draws, its local memory included (thermal design power); absent where unknown"""
    power_origin: str = Field(default="", exclude_if=lambda origin: not origin)
    """measurements on which `active` and `flop_energy` were fitted; absent where they are estimates, or a file's own"""
    source: str = Field(default="described in the file that uses it", min_length=1)
    """where the numbers come from"""
    sources: dict[str, str] = Field(default_factory=dict)
    """source or derivation of single numbers, by key"""

    @model_validator(mode="after")
    def _is_like_a_known_one(self) -> Self:
        if self.like is not None and self.like not in device_names():
            raise unknown_name("like: device", self.like, device_names())
        return self

    @model_validator(mode="after")
    def _each_peak_has_an_energy(self) -> Self:
        if missing := sorted(self.flops_per_s.keys() - self.energy_j_per_flop.keys()):
            raise ValueError(f"flop_energy of device '{self.name}' lacks {', '.join(missing)}")
        return self

    @property
    def ancestry(self) -> tuple[str, ...]:
        """Names of the devices whose fitted curves may hold, the nearest first: its own, and those that it is like."""
        older = () if self.like is None else load_device(self.like).ancestry
        return self.name, *older

    @property
    def sending_share(self) -> float:
        """Share of its processors that collectives keep busy."""
        return min(self.collective_sm / self.num_sm, 1.0)

    @property
    def tier_capacity_bytes(self) -> float:
        """Of its second memory tier; 0 where it has none."""
        return self.offload.capacity_bytes if self.offload else 0.0

    def matrix_flops_per_s(self, precision: Precision) -> float:
        """Peak of the matrix units; ValueError where they do not run this precision."""
        if precision not in self.flops_per_s:
            known = ", ".join(self.flops_per_s)
            raise ValueError(f"device '{self.name}' does not run {precision}; it runs {known}")
        return self.flops_per_s[precision]


@cache
def device_names() -> tuple[str, ...]:
    """Names of the devices in the catalog, sorted."""
    return tuple(name for name, content in documents().items() if content.get("kind") == "device")


@cache
def load_device(name: str) -> Device:
    """A device of the catalog by its name or an alias; ValueError names the nearest ones where it is unknown."""
    plain = name.lower()
    for known in device_names():
        if plain == known or plain in documents()[known].get("aliases", ()):
            return Device.model_validate(documents()[known])
    raise unknown_name("device", name, device_names())
