"""Ways to divide the ranks of a job over servers, each with the rows that may run so, the most valuable first."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from planner.fabrics.demand import Demand
from planner.fabrics.pattern import Choice
from planner.fabrics.problem import Floats, JobOptions
from planner.model.clock import Clock

Division = tuple[int, ...]
"""ranks on each server of a job, descending"""
CountsOf = Callable[[Demand], frozenset[int]]
"""parts of a demand of which a server may have so many, others having the rest"""
MOST_WAYS = 5_000
"""divisions of a job up to which they are listed"""


@dataclass(frozen=True)
class Way:
    """One row of a job on servers that have so many of its ranks."""

    job: int
    division: Division
    row: int
    value: float


class RowNeeds(NamedTuple):
    """What a row asks for where it is divided in some way."""

    amounts: tuple[int, ...] = ()
    """of whatever servers must have, as many of every row of a division"""
    may_part: bool = True
    """whether no fiber need join some of its servers with the others"""
    refused: frozenset[int] = frozenset()
    """what forbids it, by number"""

    def covers(self, other: "RowNeeds") -> bool:
        """Whether a row that asks for this has a place wherever the other one has: it takes no more of anything, its
        parts may lie apart if the other's may, and all that forbids it forbids the other one."""
        is_no_more = all(mine <= its for mine, its in zip(self.amounts, other.amounts, strict=True))
        return is_no_more and self.may_part >= other.may_part and self.refused <= other.refused


@dataclass
class JobWays:
    """Divisions of one job; of the rows of each, those that could be the best one so far are open."""

    job: int
    options: JobOptions
    counts_of: CountsOf
    rows: dict[int, list[int]]
    """by number of ranks, the most valuable first"""
    _open: dict[Division, list[int]] = field(default_factory=dict)
    _seen: dict[Division, int] = field(default_factory=dict)
    """how many rows of the number of ranks were looked at"""
    _counts: dict[int, frozenset[int]] = field(default_factory=dict)
    """of parts that a server may have, by row"""

    def __len__(self) -> int:
        return len(self._open)

    def list_divisions(self, rooms: Sequence[int]) -> bool:
        """The best row of each division over servers with so much room, descending; False where they are too many.

        A row whose blocks lie anywhere, and are no larger than those of the rows of less value, is the last one that
        has a division of its own.
        """
        for rows in self.rows.values():
            shapes = [self.options.shapes[row] for row in rows]
            for at, (row, shape) in enumerate(zip(rows, shapes, strict=True)):
                counts = self.counts_of(shape) & {*range(1, shape.most_parts + 1)}
                for division in _divisions(shape, counts, rooms):
                    if division not in self._open:
                        self._open[division], self._seen[division] = [row], at + 1
                    if len(self._open) > MOST_WAYS:
                        return False
                is_anywhere = len(counts) == shape.num_parts - 1
                if is_anywhere and all(later.part % shape.part == 0 for later in shapes[at + 1 :]):
                    break
        return True

    def open(self) -> Iterator[Way]:
        """Ways that are not refused, but for those of no more value that ask for as much as others."""
        for division, rows in self._open.items():
            for row in rows:
                yield Way(self.job, division, row, float(self.options.value[row]))

    def open_uncovered(self, asks: Callable[[Division, int], RowNeeds | None], clock: Clock) -> bool:
        """All rows of each division that ask for something are open, but those that an open one of no less value covers
        there; false where time is over before all were asked."""
        for division in self._open:
            rows, seen = dict[int, RowNeeds](), set[RowNeeds]()
            for row in self.rows_of(division):
                if clock.is_over:
                    return False
                asked = asks(division, row)
                if asked is not None and asked not in seen:
                    seen.add(asked)
                    if not any(other.covers(asked) for other in rows.values()):
                        rows[row] = asked
            self._open[division] = [*rows]
        return True

    def is_open(self, way: Way) -> bool:
        """Whether it is among these."""
        return way.row in self._open.get(way.division, ())

    def rows_of(self, division: Division) -> Iterator[int]:
        """Rows that may be so divided, the most valuable first."""
        return (row for row in self.rows[sum(division)] if self._allows(row, division))

    def refuse(self, way: Way) -> None:
        """It never stands, nor do rows that ask for as much or more so divided."""
        self.open_next(way)
        self._open[way.division].remove(way.row)

    def open_next(self, way: Way) -> None:
        """Beside others it may not stand: so may the next row that asks for less somewhere."""
        rows, shapes, at = self.rows[sum(way.division)], self.options.shapes, self._seen[way.division]
        before = [shapes[row] for row in rows[:at] if self._allows(row, way.division)]
        for row in rows[at:]:
            at += 1
            covered = (each.needs_no_more_than(shapes[row]) for each in before)
            if self._allows(row, way.division) and not any(covered):
                self._open[way.division].append(row)
                break
        self._seen[way.division] = at

    def _allows(self, row: int, division: Division) -> bool:
        shape = self.options.shapes[row]
        if len(division) == 1:
            return shape.num_parts <= shape.most_parts
        if row not in self._counts:
            self._counts[row] = self.counts_of(shape) & {*range(1, shape.most_parts + 1)}
        part, counts = shape.part, self._counts[row]
        return all(ranks % part == 0 and ranks // part in counts for ranks in division)


def ways_of(
    job: int, options: JobOptions, bounds: Floats, least: float, counts_of: CountsOf, rooms: Sequence[int]
) -> JobWays | None:
    """Divisions of the rows whose bound is at least `least` over servers with so much room, descending; None where
    they are too many."""
    rows: dict[int, list[int]] = {}
    for row in options.rows_by_value():
        if bounds[row] >= least:
            rows.setdefault(options.shapes[row].num_ranks, []).append(row)
    ways = JobWays(job, options, counts_of, rows)
    return ways if ways.list_divisions(rooms) else None


def division_of(options: JobOptions, choice: Choice) -> Division:
    """Ranks that a choice has on each of its servers."""
    part = options.shapes[choice.row].part
    return tuple(sorted((count * part for _, count in choice.blocks), reverse=True))


def _divisions(shape: Demand, counts: frozenset[int], rooms: Sequence[int]) -> Iterator[Division]:
    """All parts on one server, if it has room, and all sums of counts on servers that have it."""
    if shape.num_ranks <= rooms[0] and shape.num_parts <= shape.most_parts:
        yield (shape.num_ranks,)
    for parts in _sums(shape.num_parts, sorted(counts, reverse=True), [room // shape.part for room in rooms]):
        yield tuple(count * shape.part for count in parts)


def _sums(total: int, counts: Sequence[int], rooms: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Descending counts that add up to a total, each within the room of the next server."""
    if total == 0:
        yield ()
    elif rooms and counts and min(counts[0], rooms[0]) * len(rooms) >= total:
        for index, count in enumerate(counts):
            if count <= min(total, rooms[0]):
                for rest in _sums(total - count, counts[index:], rooms[1:]):
                    yield (count, *rest)
