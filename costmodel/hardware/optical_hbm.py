"""Stacks of HBM in packages of their own, on fibers to the accelerator, built up from wavelengths and lanes.

A pair of an electrical and a photonic chiplet (EIC and PIC) stands where a stack of HBM stood. Its fibers are
grouped into channels; in a channel one fiber brings unmodulated light, one sends and one receives.
Source: Ou et al., IEEE Comput. Archit. Lett. 24 (2025), section II.
"""

from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.counts import MOST_PARTS
from costmodel.hardware.memory.tier import MemoryTier, TierOrName
from costmodel.hardware.parts import SourcedPart, load_part
from costmodel.spec import BytesPerSecond, JoulesPerByte, Latency, NumParts, Spec

KIND: Literal["optical_hbm"] = "optical_hbm"
METRES_PER_UM, METRES_PER_MM = 1e-6, 1e-3
ROUNDING = 1e-9
"""relative, of a perimeter that whole pairs fill"""


class OpticalChannel(Spec):
    """Fibers that together make one channel of each direction."""

    light_fibers: int = Field(ge=0, le=MOST_PARTS)
    """fibers with unmodulated comb lines"""
    transmit_fibers: NumParts
    """fibers with signals out"""
    receive_fibers: NumParts
    """fibers with signals in"""
    wavelengths: NumParts
    """on each fiber that carries signals"""
    wavelength_bytes_per_s: BytesPerSecond = Field(alias="wavelength_rate")
    """of one wavelength"""

    @property
    def fibers(self) -> int:
        return self.light_fibers + self.transmit_fibers + self.receive_fibers

    @property
    def bytes_per_s(self) -> float:
        """Of the slower direction."""
        return min(self.transmit_fibers, self.receive_fibers) * self.wavelengths * self.wavelength_bytes_per_s


class ChipletInterface(Spec):
    """Die-to-die links of the electrical chiplet, such as UCIe."""

    phys: NumParts
    """physical interfaces of the chiplet"""
    modules_per_phy: NumParts
    """modules of each interface"""
    lanes_per_module: NumParts
    """of one direction"""
    lane_bytes_per_s: BytesPerSecond = Field(alias="lane_rate")
    """of one lane"""

    @property
    def module_bytes_per_s(self) -> float:
        return self.lanes_per_module * self.lane_bytes_per_s

    @property
    def bytes_per_s(self) -> float:
        """Of one direction."""
        return self.phys * self.modules_per_phy * self.module_bytes_per_s


class OpticalHbm(SourcedPart):
    """Multi-stack HBM modules of one accelerator, one module behind each pair of chiplets."""

    kind: Literal["optical_hbm"] = KIND
    pairs: NumParts
    """pairs of chiplets at the edge of the accelerator"""
    fibers_per_pair: NumParts
    """fibers behind a pair of chiplets"""
    fiber_pitch_um: float = Field(gt=0)
    """between the centres of neighbouring fibers, micrometres"""
    channel: OpticalChannel
    """fibers of one channel, and what they carry"""
    interface: ChipletInterface
    """links between accelerator and chiplet"""
    stacks_per_module: NumParts
    """stacks of HBM in a module"""
    stack: TierOrName
    """one stack of HBM"""
    link_latency_s: Latency
    """added to that of the stack, both ways together"""
    link_j_per_byte: JoulesPerByte = Field(alias="link_energy")
    """of light and chiplet links, added to that of the stack"""
    perimeter_mm: float | None = Field(default=None, gt=0)
    """edge of the accelerator that pairs may take; absent: as much as they need"""

    @model_validator(mode="after")
    def _fibers_fill_channels(self) -> Self:
        if self.fibers_per_pair % self.channel.fibers:
            raise ValueError(
                f"fibers_per_pair: {self.fibers_per_pair} is no multiple of the {self.channel.fibers} of a channel"
            )
        return self

    @model_validator(mode="after")
    def _pairs_fit(self) -> Self:
        if self.perimeter_mm is not None and self.pairs > self.room:
            wide_mm = self.pair_edge_m / METRES_PER_MM
            remedy = f"give at most {self.room}" if self.room else "give fewer fibers_per_pair"
            raise ValueError(
                f"pairs: {self.pairs} of {wide_mm:.3g} mm of fibers are wider than the perimeter_mm of "
                f"{self.perimeter_mm:g}; {remedy}"
            )
        return self

    @property
    def room(self) -> int:
        """Pairs that fit side by side."""
        if self.perimeter_mm is None:
            return self.pairs
        return int(self.perimeter_mm * METRES_PER_MM / self.pair_edge_m * (1 + ROUNDING))

    @property
    def channels_per_pair(self) -> int:
        return self.fibers_per_pair // self.channel.fibers

    @property
    def pair_edge_m(self) -> float:
        """Edge of the chip that the fibers of one pair take."""
        return self.fibers_per_pair * self.fiber_pitch_um * METRES_PER_UM

    @property
    def optical_bytes_per_s(self) -> float:
        """Of all channels of one pair, one direction."""
        return self.channels_per_pair * self.channel.bytes_per_s

    @property
    def stacks_bytes_per_s(self) -> float:
        """Of all stacks of one module."""
        return self.stacks_per_module * self.stack.bandwidth_bytes_per_s

    @property
    def pair_bytes_per_s(self) -> float:
        """Of one pair: the least of light, chiplet links and stacks."""
        return min(self.optical_bytes_per_s, self.interface.bytes_per_s, self.stacks_bytes_per_s)

    @property
    def module_bytes(self) -> float:
        """Capacity of one module."""
        return self.stacks_per_module * self.stack.capacity_bytes

    def tier(self) -> MemoryTier:
        """All modules together, as the accelerator sees them."""
        return MemoryTier(
            name=self.name,
            capacity_bytes=self.pairs * self.module_bytes,
            bandwidth_bytes_per_s=self.pairs * self.pair_bytes_per_s,
            latency_s=self.stack.latency_s + self.link_latency_s,
            energy_j_per_byte=self.stack.energy_j_per_byte + self.link_j_per_byte,
            source=self.source,
        )


def load_optical_hbm(name: str) -> OpticalHbm:
    """Optical HBM of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(OpticalHbm, KIND, name)
