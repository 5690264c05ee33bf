"""Photonic modules along the edge of a die, and memory units and trays at the other end of their fibers."""

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from costmodel.counts import MOST_PARTS
from costmodel.hardware.memory.tier import MemoryTier, TierOrName
from costmodel.hardware.parts import SourcedPart, by_name, load_part
from costmodel.spec import BytesPerSecond, JoulesPerByte, Latency, NumParts

ROUNDING = 1e-9
"""share of a quotient that counts as rounding of binary numbers before it is made whole"""


class PhotonicIO(SourcedPart):
    """One module at the edge of a die, with fibers that carry memory or network traffic."""

    kind: Literal["photonic_io"] = "photonic_io"
    width_mm: float = Field(gt=0)
    """of the edge that a module takes"""
    bandwidth_bytes_per_s: BytesPerSecond
    """of one module, one direction"""


def load_photonic_io(name: str) -> PhotonicIO:
    """A photonic module of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(PhotonicIO, "photonic_io", name)


IoOrName = Annotated[PhotonicIO, by_name(load_photonic_io)]
"""a part, or the name of one in the catalog"""


class Shoreline(SourcedPart):
    """All modules around one die."""

    kind: Literal["shoreline"] = "shoreline"
    perimeter_mm: float = Field(gt=0)
    """edge of the die that modules may take"""
    io: IoOrName
    """one module: a name of the catalog, or all fields inline"""
    modules: NumParts | None = None
    """absent: as many as the perimeter takes"""

    @model_validator(mode="after")
    def _modules_fit(self) -> Self:
        if self.modules is None and self.perimeter_mm > MOST_PARTS * self.io.width_mm:
            raise ValueError(
                f"perimeter_mm: {self.perimeter_mm:g} mm take more than {MOST_PARTS} modules of "
                f"{self.io.width_mm:g} mm; give less, or how many modules there are"
            )
        if self.room < 1:
            raise ValueError(
                f"perimeter_mm: {self.perimeter_mm:g} mm take no module of {self.io.width_mm:g} mm; "
                f"give at least {self.io.width_mm:g}"
            )
        if self.modules is not None and self.modules > self.room:
            raise ValueError(
                f"modules: {self.modules} of {self.io.width_mm:g} mm are wider than the shoreline of "
                f"{self.perimeter_mm:g} mm; give at most {self.room}"
            )
        return self

    @property
    def room(self) -> int:
        """Modules that fit side by side."""
        return math.floor(self.perimeter_mm / self.io.width_mm * (1 + ROUNDING))

    @property
    def num_io(self) -> int:
        return self.room if self.modules is None else self.modules

    @property
    def bandwidth_bytes_per_s(self) -> float:
        """Of all modules."""
        return self.num_io * self.io.bandwidth_bytes_per_s

    def with_bandwidth(self, bytes_per_s: float) -> "Shoreline":
        """The same modules, so fast that all together carry this bandwidth."""
        slower = {"bandwidth_bytes_per_s": bytes_per_s / self.num_io}
        return self.model_copy(update={"io": self.io.model_copy(update=slower)})


def load_shoreline(name: str) -> Shoreline:
    """A shoreline of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(Shoreline, "shoreline", name)


ShorelineOrName = Annotated[Shoreline, by_name(load_shoreline)]
"""a part, or the name of one in the catalog"""


class MemoryUnit(SourcedPart):
    """A stack of memory behind light."""

    kind: Literal["memory_unit"] = "memory_unit"
    stack: TierOrName
    """of memory: a name of the catalog, or all fields inline"""
    link_latency_s: Latency
    """added to that of the stack: time of flight, both ways, and protocol"""
    link_j_per_byte: JoulesPerByte = Field(alias="link_energy")
    """added to that of the stack"""

    def tier(self) -> MemoryTier:
        """One unit as an accelerator sees it."""
        seen = {
            "name": self.name,
            "latency_s": self.stack.latency_s + self.link_latency_s,
            "energy_j_per_byte": self.stack.energy_j_per_byte + self.link_j_per_byte,
            "source": self.source,
            "sources": {},
        }
        return self.stack.model_copy(update=seen)


def load_memory_unit(name: str) -> MemoryUnit:
    """A memory unit of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(MemoryUnit, "memory_unit", name)


UnitOrName = Annotated[MemoryUnit, by_name(load_memory_unit)]
"""a part, or the name of one in the catalog"""


class MemoryTray(SourcedPart):
    """Units that share the ports of one tray; a unit is wired to one port."""

    kind: Literal["memory_tray"] = "memory_tray"
    unit: UnitOrName
    units: NumParts
    port: IoOrName
    ports: NumParts

    @model_validator(mode="after")
    def _ports_carry_units(self) -> Self:
        if self.units_per_port < 1:
            raise ValueError(too_fast(self.unit, self.port.bandwidth_bytes_per_s, "a port"))
        if self.units > self.ports * self.units_per_port:
            raise ValueError(
                f"units: {self.ports} ports of {self.units_per_port} units each carry fewer than {self.units}; "
                f"give at most {self.ports * self.units_per_port} units or more ports"
            )
        return self

    @property
    def units_per_port(self) -> int:
        """Whole units that one port carries at their full bandwidth."""
        return math.floor(self.port.bandwidth_bytes_per_s / self.unit.stack.bandwidth_bytes_per_s * (1 + ROUNDING))

    @property
    def capacity_bytes(self) -> float:
        return self.units * self.unit.stack.capacity_bytes

    @property
    def bandwidth_bytes_per_s(self) -> float:
        return self.units * self.unit.stack.bandwidth_bytes_per_s


def too_fast(unit: MemoryUnit, carried_bytes_per_s: float, carrier: str) -> str:
    """What to say of a unit that gives more than one I/O or port carries: parts of it that it does carry."""
    capacity_bytes, bytes_per_s = unit.stack.capacity_bytes, unit.stack.bandwidth_bytes_per_s
    parts = math.ceil(bytes_per_s / carried_bytes_per_s)
    return (
        f"unit: '{unit.name}' gives {bytes_per_s / 1e9:g} GB/s, {carrier} carries "
        f"{carried_bytes_per_s / 1e9:.4g} GB/s; take slower units, such as {parts} of "
        f"{capacity_bytes / parts / 1e9:.4g} GB and {bytes_per_s / parts / 1e9:.4g} GB/s for one, or a faster I/O"
    )


def load_memory_tray(name: str) -> MemoryTray:
    """A memory tray of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(MemoryTray, "memory_tray", name)
