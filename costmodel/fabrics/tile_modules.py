"""Memory modules behind the tiles of a wafer, or a pool of them that its tiles share: their light takes wavelengths of
a tile that circuits would have.

That tiles have modules is not in paper 003; how a package divides its I/Os is that of papers 000 and 001.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, Self

from pydantic import Field, model_validator

from costmodel.fabrics.base import Split
from costmodel.fabrics.inventory import Parts
from costmodel.fabrics.joined_racks import JoinedRacks
from costmodel.fabrics.server_shares import ServerShares
from costmodel.hardware.device import Device
from costmodel.hardware.memory.behind import TierBehind
from costmodel.spec import NumParts

if TYPE_CHECKING:
    from costmodel.workloads import Workload


class TileModules(TierBehind):
    """A second tier behind the memory of tiles; a job's tiles use as many modules as it chooses."""

    units: NumParts
    """modules of each tile; where they are shared, those of a server"""
    wavelengths: NumParts
    """of a tile that the light of one module takes, each way"""
    shared: bool = Field(default=False, exclude_if=lambda shared: not shared)
    """whether the tiles of a server draw modules from one pool, each lent to one tile at a time, rather than having
    some each"""


class TilesWithMemory(ServerShares, JoinedRacks):
    """Tiles that divide their wavelengths between circuits to others and memory modules, if they have some."""

    share_names: ClassVar[tuple[str, ...]] = ("modules",)
    share_owner: ClassVar[str] = "pool"

    memory: TileModules | None = Field(default=None, exclude_if=lambda memory: memory is None)
    """modules behind each tile, or a pool that the tiles of a server share, to which jobs may offload; absent where
    there are none"""

    if TYPE_CHECKING:
        wavelengths_per_tile: int
        wavelength_bandwidth_bytes_per_s: float
        energy_j_per_byte: float

    @model_validator(mode="after")
    def _leaves_circuits_a_wavelength(self) -> Self:
        if self.memory is None:
            return self
        each, most = self.memory.wavelengths, self.most_modules
        if most == 0:
            raise ValueError(
                f"memory.wavelengths: one module takes {each} of the {self.wavelengths_per_tile} wavelengths of a tile "
                "and leaves none to circuits; give fewer, or more wavelengths_per_tile"
            )
        if self.memory.units > most and not self.memory.shared:
            raise ValueError(
                f"memory.units: {self.memory.units} modules of {each} wavelengths leave none of the "
                f"{self.wavelengths_per_tile} of a tile to circuits; give at most {most}, or fewer wavelengths for each"
            )
        return self

    @property
    def most_modules(self) -> int:
        """Of one tile, that leave its circuits a wavelength."""
        return 0 if self.memory is None else (self.wavelengths_per_tile - 1) // self.memory.wavelengths

    @property
    def shared(self) -> tuple[int, ...] | None:
        return (self.memory.units,) if self.memory is not None and self.memory.shared else None

    @property
    def places_whole_jobs(self) -> bool:
        """A rank that moves takes modules of a pool beside others of its job."""
        return self.shared is not None

    def splits(self, device: Device, workload: "Workload | None" = None) -> tuple[Split, ...]:
        """All wavelengths for circuits; or each number of modules, with the wavelengths that these leave."""
        if self.memory is None:
            return (Split(device, self),)
        return _splits(_Asked(f"{self._text}{device.model_dump_json()}", self, device))

    @cached_property
    def _text(self) -> str:
        return self.model_dump_json()

    def _behind_tiles(self, devices: Parts) -> Iterator[Parts]:
        """Lasers and receivers by wavelength, which come with the ports; where these light memory modules too, none of
        them is told apart, and modules are parts instead."""
        if self.memory is None:
            yield devices.of_each("laser", ":w", self.wavelengths_per_tile, {"optical_port": 0})
            yield devices.of_each("receiver", ":rx:w", self.wavelengths_per_tile, {"optical_port": 0})
        else:
            owners = self._parts_of_servers() if self.memory.shared else devices
            number = owners.count * self.memory.units
            yield owners.of_each("memory module", ".m", self.memory.units, {"memory_unit": number})


@dataclass(frozen=True)
class _Asked:
    """All that the splits depend on, by its text; the objects come along."""

    text: str
    fabric: TilesWithMemory = field(compare=False)
    device: Device = field(compare=False)


@lru_cache(maxsize=64)
def _splits(asked: _Asked) -> tuple[Split, ...]:
    fabric, memory = asked.fabric, asked.fabric.memory
    assert memory is not None
    found = [Split(asked.device, fabric)]
    for units in range(1, min(memory.units, fabric.most_modules) + 1):
        taken = units * memory.wavelengths
        fields = {name: getattr(fabric, name) for name in type(fabric).model_fields}
        fields |= {"memory": None, "wavelengths_per_tile": fabric.wavelengths_per_tile - taken}
        tier = memory.tier(units, taken * fabric.wavelength_bandwidth_bytes_per_s)
        energy = tier.energy_j_per_byte + fabric.energy_j_per_byte
        lit = tier.model_copy(update={"energy_j_per_byte": energy})
        device = asked.device.model_copy(update={"offload": lit})
        found.append(Split(device, type(fabric).model_validate(fields), units, taken, second_tiers=(lit.name,)))
    return tuple(found)
