"""Where the rows of a class of jobs lie in one rack: each row is tried once while nothing changes there.

A search goes through the rows of all racks, the most valuable first; what it has seen of a rack, the next one need not
look at again.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain

from planner.fabrics.demand import Demand
from planner.fabrics.lightpath.fast_fibers import Fibers, Spread, Spreads
from planner.fabrics.lightpath.job_class import LightpathJobClass, LightpathOption
from planner.fabrics.placement import Placement
from planner.fabrics.search import Blocks

MOST_REMEMBERED = 5_000
"""classes of jobs in a state of a rack"""
NO_ROW = 1 << 60
Realize = Callable[[LightpathOption, Spread], Placement | None]


class RackRows:
    """Rows of one class in one rack as far as they were tried; those with one key find their spreads once."""

    def __init__(
        self, kind: LightpathJobClass, spreads: Callable[[Demand], Iterable[Blocks]], fibers: Fibers, realize: Realize
    ) -> None:
        self._kind, self._spreads_of, self._fibers, self._realize = kind, spreads, fibers, realize
        self._following = [(numbers[0], 0, key) for key, numbers in enumerate(kind.numbers)]
        self._spreads: dict[int, Spreads] = {}
        self.next = self._following[0][0]
        """number of the row that was found, or of the next one to try; NO_ROW where there is none"""
        self.found: Placement | None = None
        self.failed: list[int] = []
        """numbers of rows with enough light between servers for which no circuits were found, once for each spread"""

    def look(self) -> None:
        """Try the next row."""
        number, rank, key = heappop(self._following)
        row = self._kind.rows[number]
        spreads = self._spreads.get(key) or self._first_look(row, key)
        if spreads is not None:
            for _, spread in spreads.open_to(rank):
                self.found = self._realize(row, spread)
                if self.found is not None:
                    break
                self.failed.append(number)
            else:
                later, numbers = spreads.open_after(rank), self._kind.numbers[key]
                if later < len(numbers):
                    heappush(self._following, (numbers[later], later, key))
        if self.found is None:
            self.next = self._following[0][0] if self._following else NO_ROW

    def _first_look(self, row: LightpathOption, key: int) -> Spreads | None:
        """Spreads of the rows with a key; None where there are none, or the first row lies in one server."""
        ways = iter(self._spreads_of(row.shape))
        first = next(ways, None)
        if first is None:
            return None
        if len(first) == 1:
            self.found = self._realize(row, self._fibers.spread(first))
            if self.found is not None:
                return None
        spreads = Spreads(chain([first], ways), self._fibers, self._kind.boundaries[key])
        self._spreads[key] = spreads
        return spreads


def best_of(racks: Sequence[RackRows], most_failed: int) -> tuple[Placement | None, bool]:
    """The most valuable row that is found in a rack, in the first of several; and whether rows failed so often before
    that the search ends there."""
    following = [(rows.next, place) for place, rows in enumerate(racks)]
    heapify(following)
    num_failed = sum([len(rows.failed) for rows in racks])
    while following and (num_failed < most_failed or not _is_over(racks, *following[0], most_failed)):
        number, place = heappop(following)
        rows = racks[place]
        if rows.found is not None or number == NO_ROW:
            return rows.found, False
        num_failed -= len(rows.failed)
        rows.look()
        num_failed += len(rows.failed)
        heappush(following, (rows.next, place))
    return None, bool(following)


def _is_over(racks: Sequence[RackRows], number: int, place: int, most_failed: int) -> bool:
    """Whether rows failed so often up to this one in this rack."""
    up_to = sum([bisect_right(rows.failed, number) for rows in racks[: place + 1]])
    return up_to + sum([bisect_left(rows.failed, number) for rows in racks[place + 1 :]]) >= most_failed


class KnownRows:
    """What was seen of racks by class, strategy and state of the rack."""

    def __init__(self) -> None:
        self._known: dict[Hashable, RackRows] = {}

    def of(self, question: Hashable, make: Callable[[], RackRows]) -> RackRows:
        """What is known, made if it is new."""
        found = self._known.get(question)
        if found is None:
            if len(self._known) >= MOST_REMEMBERED:
                self._known.clear()
            found = self._known[question] = make()
        return found
