"""What a file says of three-dimensional tori, and what follows from it alone."""

from collections.abc import Mapping
from functools import cached_property
from math import prod
from typing import Literal, Self

from pydantic import Field, model_validator

from costmodel.fabrics.boards import BoardsConfig
from costmodel.fabrics.boxes import Sides
from costmodel.fabrics.cube_switches import CubeSwitches, SwitchesConfig
from costmodel.fabrics.inventory import PriceClass
from costmodel.fabrics.partitions import require_partitions
from costmodel.fabrics.sliced import SlicedFabric
from costmodel.spec import BytesPerSecond, JoulesPerByte, Latency


class TorusSpec(SlicedFabric):
    """Servers, their links, and what joins them."""

    device_letter = "c"

    kind: Literal["torus"] = "torus"
    sides: Sides = Field(min_length=3, max_length=3)
    """chips along each axis of a server, at least 1, with switches at least 2"""
    link_bandwidth_bytes_per_s: BytesPerSecond
    """one link, one direction; a chip has two links along an axis"""
    alpha_s: Latency
    """of one step between neighbours"""
    link_energy_j_per_byte: JoulesPerByte
    """of a byte over one link"""
    partitions: tuple[Sides, ...] = Field(default=(), exclude_if=lambda partitions: not partitions)
    """boxes inside a server that parts of jobs may take beside all of it, each at multiples of its extents; the first
    is a host, of which all others are made. None: any boxes at any place"""
    switches: SwitchesConfig | None = None
    """between cubes; absent: each torus stands alone"""
    boards: BoardsConfig | None = Field(default=None, exclude_if=lambda boards: boards is None)
    """photonics that give links in use what a slice leaves idle of its chips' bandwidth; absent: links are fixed"""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        least = 1 if self.switches is None else 2
        if min(self.sides) < least or prod(self.sides) > 4096:
            raise ValueError(f"sides: {self.sides} must be at least {least} each, and 4096 chips at most together")
        require_partitions(self.sides, self.partitions)
        if self.switches is not None:
            self.switches.require_join(self.sides, self.servers)
        if self.boards is not None and self.partitions:
            raise ValueError("partitions: boards redirect light for boxes at any place; give one of the two")
        if self.boards is not None:
            self.boards.require_divide(self.sides)
        return self

    @property
    def devices_per_server(self) -> int:
        return prod(self.sides)

    @property
    def rows(self) -> int:
        """One plane of y and z in each."""
        return self.sides[0]

    @property
    def has_circuits(self) -> bool:
        return self.switches is not None

    @property
    def stage_s(self) -> float:
        turning_s = [each.reconfiguration_s + self.alpha_s for each in (self.switches, self.boards) if each is not None]
        return max([*turning_s, super().stage_s])

    @cached_property
    def _switches(self) -> CubeSwitches:
        """Optical switches of all racks."""
        on_face = tuple(self.devices_per_server // side for side in self.sides) if self.switches is not None else ()
        return CubeSwitches(self.racks, on_face)

    @property
    def num_optical_switches(self) -> int:
        return self.racks * sum(self._switches.on_face)

    def _port_prices(self) -> Mapping[PriceClass, int]:
        """Light on the faces of cubes, or of all links where boards of photonics have them; wires lie inside a server,
        and come with its accelerators."""
        optical = 2 * self.num_optical_switches * self.servers if self.boards is None else 6 * self.num_devices
        return {"optical_port": optical}

    @property
    def sizes(self) -> str:
        cube, *parts = (" x ".join(map(str, sides)) for sides in (self.sides, *self.partitions))
        inside = f"boxes within {cube}" if not parts else f"boxes of {', '.join(parts)} and {cube}"
        return f"those of {inside}" + (f", and multiples of {prod(self.sides)}" if self.switches else "")
