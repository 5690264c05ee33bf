"""Classes of jobs on a lightpath: options with the light that spreading them over servers needs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase, Lightpath
from planner.fabrics.job_class import JobClass, JobClassRules, Option
from planner.fabrics.lightpath.fast_layouts import Layouts, layouts_of
from planner.model.errors import InputError

Ints = NDArray[np.int64]
FEW_MORE = 4
"""one row more for so many that are known, where the next one is looked at"""


@dataclass(frozen=True, eq=False)
class LightpathOption(Option):
    """A configuration, with the wavelengths that divisions of its blocks need."""

    @property
    def boundary(self) -> Ints:
        """Least wavelengths that leave so many of its blocks; zeros where spreading the job needs no fibers."""
        return self.shape.boundary

    @property
    def key(self) -> tuple[object, ...]:
        """As that of its demand, which is made only where a pool is shared."""
        fabric = self.options.fabric
        assert isinstance(fabric, Lightpath)
        return (self.size, self.part) if fabric.shared is None else self.shape.key

    @cached_property
    def part(self) -> int:
        return int(self.options.candidates.block[self.number])

    @cached_property
    def layouts(self) -> Layouts:
        """Orders of its blocks on several servers."""
        return layouts_of(self.shape)

    def warm(self) -> None:
        super().warm()
        if self.shape.racks == 1 and self.shape.has_light:
            assert self.layouts is not None


class Bounded(Protocol):
    """A row with its boundary."""

    @property
    def boundary(self) -> Ints: ...


class Boundaries:
    """Least wavelengths that leave so many blocks of each of some rows with one key, found as rows are looked at: most
    jobs take one of the first."""

    def __init__(self, rows: Sequence[Bounded]) -> None:
        self._rows = rows
        self._found = np.zeros((0, 0), dtype=np.int64)

    def __len__(self) -> int:
        return len(self._rows)

    def first(self, rows: int) -> Ints:
        """Those of so many rows at least, or of all, (rows, blocks + 1)."""
        if len(self._found) < min(rows, len(self)):
            known = len(self._found)
            self._found = np.array([row.boundary for row in self._rows[: max(rows, known + known // FEW_MORE)]])
        return self._found


@dataclass(frozen=True, eq=False)
class LightpathJobClass(JobClass):
    """Jobs whose options with equal keys differ in the light that they need alone."""

    rows: tuple[LightpathOption, ...]

    @cached_property
    def numbers(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the rows with each key."""
        of_key: dict[object, list[int]] = {}
        for number, row in enumerate(self.rows):
            of_key.setdefault(row.key, []).append(number)
        return tuple(map(tuple, of_key.values()))

    @cached_property
    def boundaries(self) -> tuple["Boundaries", ...]:
        """Boundaries of the rows with each key."""
        return tuple(Boundaries([self.rows[number] for number in numbers]) for numbers in self.numbers)

    @cached_property
    def first_rows(self) -> tuple[LightpathOption, ...]:
        """The most valuable row of each key."""
        return tuple(self.rows[numbers[0]] for numbers in self.numbers)


class LightpathJobClassRules(JobClassRules):
    """All rows are kept: those with equal keys differ in light."""

    light_differs = True
    option_type = LightpathOption

    def require_replayed(self, fabric: FabricBase, name: str) -> None:
        assert isinstance(fabric, Lightpath)
        if fabric.shared is not None:
            problem = "jobs that share a pool cannot be replayed; leave it out, so that each tile has its own modules"
            raise InputError(name, "fabric.memory.shared", problem)

    def require_served(self, fabric: FabricBase) -> None:
        assert isinstance(fabric, Lightpath)
        if fabric.shared is not None:
            problem = "a controller hands out no shared pools; leave it out, or plan it with `planner solve`"
            raise InputError("cluster", "fabric.memory.shared", problem)

    def job_class(
        self,
        name: str,
        size: int,
        held: int,
        rows: tuple[Option, ...],
        fastest: float = 1.0,
        of_loop: tuple[Option, ...] = (),
    ) -> LightpathJobClass:
        lit = tuple(row for row in rows if isinstance(row, LightpathOption))
        return LightpathJobClass(name, size, held, lit, fastest, of_loop)
