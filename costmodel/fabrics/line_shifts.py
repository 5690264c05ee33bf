"""The shifted torus: a slice of whole cubes in which each line of light may lead to another cube.

An optical switch joins the ports at one place of the + faces of all cubes with those at the same place of the - faces,
in any order: lines at different places may lead from one cube to different ones, over the ports that a plain torus has.
Here all lines at a place shift alike, so that a slice looks the same from each of its cubes.
"""

import json
from math import prod
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from costmodel.fabrics.boxes import Sides
from costmodel.hardware.parts import load_part
from costmodel.spec import Spec

Offset = Annotated[tuple[int, int, int], Field(min_length=3, max_length=3)]
Pattern = tuple[tuple[Offset, ...], ...]
Weight = Annotated[float, Field(gt=0, le=1e6)]
Weights = Annotated[tuple[Weight, ...], Field(min_length=6, max_length=6)]
AXES = "xyz"


class LineShifts(Spec):
    """A wiring of a slice of whole cubes for all-to-alls, and how these are divided over it."""

    kind: Literal["line_shifts"] = "line_shifts"
    name: str = Field(min_length=1)
    """under which the catalog and reports show it"""
    source: str = Field(min_length=1)
    """how it was found"""
    sides: Annotated[Sides, Field(min_length=3, max_length=3)]
    """chips along each axis of a cube"""
    cubes: Annotated[Sides, Field(min_length=3, max_length=3)]
    """along each axis of the slice"""
    x: Pattern
    """by y, then by z on the face, repeated over it: cubes along each axis from the cube whose + face a line leaves to
    that whose - face it enters, counted round"""
    y: Pattern
    """likewise, by x, then by z"""
    z: Pattern
    """likewise, by x, then by y"""
    weights: tuple[Weights, ...] = ()
    """of the links of each chip of a cube, to -x, +x, -y, +y, -z and +z: the bytes of a pair are divided among its
    shortest ways in proportion to the product of the weights of their links; absent: 1 each"""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if min(self.sides) < 2 or min(self.cubes) < 1 or prod(self.cubes) < 2:
            raise ValueError("sides, cubes: give cubes of at least 2 chips along each axis, and at least two of them")
        for name, pattern in zip(AXES, self._patterns, strict=True):
            self._check_pattern(name, pattern)
        if self.weights and len(self.weights) != prod(self.sides):
            raise ValueError(f"weights: {len(self.weights)} chips; give {prod(self.sides)}, or leave them out")
        if len(self._reached()) < prod(self.cubes):
            raise ValueError("x, y, z: the lines do not join all cubes; shift some along every axis of several cubes")
        return self

    def _check_pattern(self, name: str, pattern: Pattern) -> None:
        across = [side for axis, side in zip(AXES, self.sides, strict=True) if axis != name]
        widths = {len(row) for row in pattern}
        if not pattern or len(widths) > 1 or 0 in widths or across[0] % len(pattern) or across[1] % max(widths):
            raise ValueError(f"{name}: rows of equal length are needed that repeat over a face of {across} places")
        for offset in (offset for row in pattern for offset in row):
            if any(not 0 <= step < number for step, number in zip(offset, self.cubes, strict=True)):
                raise ValueError(f"{name}: {[*offset]} leaves the slice; count round, from 0 below {[*self.cubes]}")

    @property
    def _patterns(self) -> tuple[Pattern, Pattern, Pattern]:
        return self.x, self.y, self.z

    def _reached(self) -> set[Sides]:
        """Cubes that lines lead to from the first one."""
        steps = {offset for pattern in self._patterns for row in pattern for offset in row}
        reached, waiting = {(0, 0, 0)}, [(0, 0, 0)]
        while waiting:
            a, b, c = waiting.pop()
            for i, j, k in steps:
                after = (a + i) % self.cubes[0], (b + j) % self.cubes[1], (c + k) % self.cubes[2]
                if after not in reached:
                    reached.add(after)
                    waiting.append(after)
        return reached

    def to_json(self) -> str:
        """As a file has them, a key or a chip's weights on each line."""
        fields = self.model_dump(mode="json")
        weights = ",\n    ".join(map(json.dumps, fields.pop("weights")))
        rows = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items()]
        return "{\n" + ",\n".join([*rows, f'  "weights": [\n    {weights}\n  ]']) + "\n}\n"

    def offset(self, axis: int, chip: Sides) -> Offset:
        """Cubes by which the line of an axis through a chip shifts from a + face to the - face that it enters."""
        first, second = (place for i, place in enumerate(chip) if i != axis)
        pattern = self._patterns[axis]
        row = pattern[first % len(pattern)]
        return row[second % len(row)]


def load_line_shifts(name: str) -> LineShifts:
    """Shifts of the catalog by name; ValueError names the nearest ones where they are unknown."""
    return load_part(LineShifts, "line_shifts", name)
