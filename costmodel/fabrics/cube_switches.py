"""Optical switches between the faces of cubes."""

import re
from math import prod
from typing import Annotated, NamedTuple

from pydantic import Field

from costmodel.fabrics.boxes import Sides
from costmodel.fabrics.inventory import INDEX
from costmodel.fabrics.line_shifts import AXES, LineShifts, load_line_shifts
from costmodel.fabrics.twisted import least_cubes
from costmodel.hardware.parts import by_name
from costmodel.spec import JoulesPerByte, Spec, SwitchingTime


class SwitchesConfig(Spec):
    """Circuit switches between the faces of all cubes of a rack: one for each axis and place on the face."""

    ports: int = Field(ge=2, le=4096)
    """of one switch, 136 or 300 in products; each cube takes two of each switch"""
    energy_j_per_byte: JoulesPerByte
    """of a byte that goes from cube to cube, its link included"""
    reconfiguration_s: SwitchingTime = 0.0
    """time to set circuits, before a job starts; they stay while it runs"""
    twisted: bool = Field(default=False, exclude_if=lambda twisted: not twisted)
    """whether slices of n x n x 2n and n x 2n x 2n chips may be wired as twisted tori, too, for jobs with all-to-alls
    over all of a slice"""
    line_shifts: tuple[Annotated[LineShifts, by_name(load_line_shifts)], ...] = Field(
        default=(), exclude_if=lambda line_shifts: not line_shifts
    )
    """shifted tori as which slices may be wired, too, for such jobs: names of the catalog, or what
    `planner wiring shifts` writes"""

    @property
    def rewires(self) -> bool:
        """Whether slices may be wired otherwise than as plain tori."""
        return self.twisted or bool(self.line_shifts)

    def require_join(self, sides: Sides, servers: int) -> None:
        """ValueError where so many cubes have too few ports or cannot be wired as asked."""
        if self.twisted and servers < (least := least_cubes(sides)):
            raise ValueError(
                f"switches.twisted: the smallest twisted torus has {least} cubes; give as many servers, or leave it out"
            )
        if 2 * servers > self.ports:
            raise ValueError(f"switches.ports: {self.ports} cannot join {servers} cubes; give two for each")
        for each in self.line_shifts:
            field, number = f"switches.line_shifts: {each.name}", prod(each.cubes)
            if each.sides != sides:
                raise ValueError(
                    f"{field} joins cubes of {[*each.sides]}, not {[*sides]}; make one with "
                    "`planner wiring shifts`, or leave it out"
                )
            if number > servers:
                raise ValueError(f"{field} joins {number} cubes; give as many servers, or leave it out")
            if [other.cubes for other in self.line_shifts].count(each.cubes) > 1:
                raise ValueError(f"{field}: another one also joins {[*each.cubes]} cubes; leave one out")


class CubeSwitches(NamedTuple):
    """Names of optical switches; axes 3 k, 3 k + 1 and 3 k + 2 are those of rack k."""

    racks: int
    on_face: tuple[int, ...]
    """of each axis of a rack"""

    def name(self, axis: int, number: int) -> str:
        """Such as y3, or r1.y3 where there are several racks."""
        rack, axis = divmod(axis, len(AXES))
        return f"r{rack}." * (self.racks > 1) + f"{AXES[axis]}{number}"

    @property
    def names(self) -> tuple[str, ...]:
        """Of all racks."""
        return tuple(self.name(axis, i) for axis, n in enumerate(self.on_face * self.racks) for i in range(n))

    def parse(self, name: str) -> tuple[int, int]:
        """Axis and number of a switch; ValueError names the right form."""
        match = re.fullmatch(rf"(?:r({INDEX})\.)?([{AXES}])({INDEX})", name)
        if match:
            axis, number = len(AXES) * int(match[1] or 0) + AXES.index(match[2]), int(match[3])
            is_known = axis < len(AXES) * self.racks and number < self.on_face[axis % len(AXES)]
            if is_known and self.name(axis, number) == name:
                return axis, number
        last = self.name(len(AXES) * self.racks - 1, self.on_face[-1] - 1)
        raise ValueError(f"no switch '{name}'; switches are {self.name(0, 0)} to {last}")
