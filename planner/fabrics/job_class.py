"""Configurations that jobs of one class may run in, with all that placing one of them by number depends on."""

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Self

from costmodel.fabrics import FabricBase
from planner.fabrics.demand import Demand
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster


@dataclass(frozen=True, eq=False)
class Option:
    """One configuration of a job: a row of its candidates. Each is equal to itself alone."""

    options: JobOptions
    number: int
    """row of the options"""
    rate: float
    """reference seconds of work done in a second"""
    energy_j_per_s: float
    """joules for what the reference does in a second"""

    @cached_property
    def shape(self) -> Demand:
        """The demand on the fabric."""
        return self.options.shapes[self.number]

    @property
    def size(self) -> int:
        """Ranks of the whole job, over all racks, known before its demand is made."""
        return int(self.options.candidates.num_devices[self.number])

    @property
    def racks(self) -> int:
        """Racks in which the whole job lies, likewise."""
        return int(self.options.candidates.racks[self.number])

    @cached_property
    def in_rack(self) -> "Option":
        """What it is in each of its racks, where these are several."""
        return replace(self, options=self.options.in_rack)

    @cached_property
    def sets_circuits(self) -> bool:
        """True if the configuration holds optical circuits."""
        return self.options.fabric.has_circuits and self.shape.in_rack.holds_circuits

    @cached_property
    def is_single(self) -> bool:
        return self.shape.num_ranks == 1

    @cached_property
    def part(self) -> int:
        """Ranks that a server takes together."""
        return self.shape.part

    @cached_property
    def num_parts(self) -> int:
        return self.shape.num_parts

    def warm(self) -> None:
        """Work out now what the first placement would have to."""
        if self.shape.racks > 1:
            self.in_rack.warm()
            return
        assert self.sets_circuits in (True, False)
        assert self.shape.key
        if self.shape.pooled_units:
            assert all(len(each.configurations) == len(each.offsets) for each in self.shape.by_phase)
        if self.shape.has_light:
            assert self.shape.offsets is not None


@dataclass(frozen=True, eq=False)
class JobClass:
    """Jobs of one workload and size on one cluster. Each is equal to itself alone."""

    name: str
    size: int
    """accelerators asked for"""
    held: int
    """accelerators that every row takes: more than asked where the fabric has no such size"""
    rows: tuple[Option, ...]
    """by value, the most valuable first; none where the cluster cannot run the job"""
    fastest: float
    """highest rate of the rows"""
    of_loop: tuple[Option, ...] = ()
    """those with the memory that the SiPAM loop gives the workload; all where it divides nothing"""

    @cached_property
    def over_racks(self) -> tuple[Option, ...]:
        """Rows that lie in several racks."""
        return tuple(row for row in self.rows if row.racks > 1)

    def over_racks_before(self, row: Option) -> tuple[Option, ...]:
        """Those of them that are more valuable than another row."""
        return self.over_racks[: bisect(self.over_racks, self._place[row], key=self._place.__getitem__)]

    @cached_property
    def _place(self) -> dict[Option, int]:
        return {row: place for place, row in enumerate(self.rows)}

    @cached_property
    def numbers_by_cut(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the rows that ask for the same slices of as many racks, each ascending."""
        alike: dict[tuple[int, ...], list[int]] = {}
        for number, row in enumerate(self.rows):
            shape = row.shape
            alike.setdefault((shape.num_ranks, shape.block, shape.racks, shape.links), []).append(number)
        return tuple(map(tuple, alike.values()))

    @cached_property
    def least_of_a_rack(self) -> int:
        """Fewest accelerators that a row takes of a rack."""
        return min([self.held, *(row.shape.num_ranks // row.shape.racks for row in self.over_racks)])

    @cached_property
    def in_one_rack(self) -> Self:
        """The same without these rows."""
        if not self.over_racks:
            return self
        rows, of_loop = (tuple(row for row in rows if row.racks == 1) for rows in (self.rows, self.of_loop))
        return replace(self, rows=rows, of_loop=of_loop)

    @cached_property
    def parts(self) -> tuple[int, ...]:
        """Ranks that rows take together of a server, each number once, the fewest first."""
        return tuple(sorted({row.part for row in self.rows}))

    @cached_property
    def leanest(self) -> tuple[Option, ...]:
        """The row of each block size that asks for the least memory of a pool: where none has room, no row has."""
        return _leanest(self.rows)

    @cached_property
    def leanest_of_loop(self) -> tuple[Option, ...]:
        """The same of the rows of the published loop."""
        return _leanest(self.of_loop)

    @cached_property
    def is_even(self) -> bool:
        """True if each server of such a job takes one part, no more; then all parts are of the same size. It is the
        job that asks for it, so that all rows are alike."""
        return any(row.shape.is_even for row in self.rows[:1])


def _leanest(rows: Sequence[Option]) -> tuple[Option, ...]:
    least: dict[int, Option] = {}
    for row in sorted(rows, key=lambda row: row.shape.pooled_units):
        least.setdefault(row.part, row)
    return tuple(least.values())


class JobClassRules:
    """Turns candidates into the options of a class of jobs; as given here, on servers joined by packets."""

    light_differs: ClassVar[bool] = False
    """whether options of equal keys may find a place, or none, apart: they differ in light"""

    option_type: ClassVar[type[Option]] = Option

    def job_class(
        self,
        name: str,
        size: int,
        held: int,
        rows: tuple[Option, ...],
        fastest: float = 1.0,
        of_loop: tuple[Option, ...] = (),
    ) -> JobClass:
        """The class of these options."""
        return JobClass(name, size, held, rows, fastest, of_loop)

    def distinct(self, options: JobOptions, order: Sequence[int], reference_speed: float) -> list[Option]:
        """Options in this order, of those that find a place or none together the first; `reference_speed` is the speed
        that counts as 1."""
        rate, energy = options.scores.speed / reference_speed, options.scores.energy_per_work_j * reference_speed
        found: list[Option] = []
        seen: set[tuple[object, ...]] = set()
        for index in order:
            if not self.light_differs:
                shape = options.shapes[index]
                key = shape.key, shape.racks, shape.links
                if key in seen:
                    continue
                seen.add(key)
            found.append(self.option_type(options, index, float(rate[index]), float(energy[index])))
        return found

    def with_box(self, options: JobOptions, box: tuple[int, int, int]) -> JobOptions:
        """Rows of a job that asks for a box of a torus; all of them where jobs hold no boxes."""
        return options

    def of_loop(self, options: JobOptions, order: Sequence[int], cluster: Cluster) -> Sequence[int]:
        """Those of the rows, in this order, with the memory of the published loop; all where it divides nothing."""
        return order

    def offered(self, options: Sequence[Option], fabric: FabricBase) -> tuple[Option, ...]:
        """Options that a controller may choose, the first ones first."""
        return tuple(options)

    def require_replayed(self, fabric: FabricBase, name: str) -> None:
        """InputError for a fabric whose memory a replay cannot hand out; `name` is that of the cluster."""

    def require_served(self, fabric: FabricBase) -> None:
        """InputError for a fabric whose memory a controller cannot hand out."""
