"""Optical switches between the faces of cubes."""

from math import prod
from typing import Annotated

from pydantic import Field

from costmodel.fabrics.boxes import Sides
from costmodel.fabrics.line_shifts import LineShifts, load_line_shifts
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
