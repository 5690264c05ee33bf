"""Light between servers in numbers that are kept, so that equal states are known by one number."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Fiber
from planner.fabrics.lightpath.job_class import Boundaries
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.search import Blocks

Ints = NDArray[np.int64]
MOST_REMEMBERED = 200_000
"""spreads"""
FIRST_ROWS = 8
"""of one key that are looked at together"""


class Spread(NamedTuple):
    """Blocks of a job on servers, and the light between these as it is now."""

    servers: tuple[int, ...]
    counts: tuple[int, ...]
    """blocks by server"""
    number: int
    """the same for as many blocks with the same wavelengths free on fibers between their servers; -1 in one server"""
    room: tuple[tuple[int, ...], ...]
    """free wavelengths from server to server"""
    ends: tuple[tuple[int, int], ...]
    """(blocks, wavelengths free to all others, or from these, whichever are fewer) by server"""


class Fibers:
    """Wavelengths taken on the fibers of each ordered pair of servers of a rack, where none crosses a third server."""

    def __init__(self, light: Spectrum) -> None:
        servers, size = range(light.fabric.num_servers), light.fabric.servers
        beside = [servers[a - a % size : a - a % size + size] for a in servers]
        self._stride = light.fabric.wavelengths_per_tile + 1
        self._taken = [{b: self._missing(light, a, b) for b in beside[a]} for a in servers]
        """masks of wavelengths, fiber after fiber; the bit after those of a fiber is set where it has failed, or is
        beyond the last one"""
        self._open = [{b: self._healthy(light, a, b) for b in beside[a]} for a in servers]
        self._room = [{b: mask.bit_count() for b, mask in row.items()} for row in self._open]
        self._numbers: dict[tuple[object, ...], int] = {}
        self._next = count()

    def _missing(self, light: Spectrum, source: int, destination: int) -> int:
        healthy, number = light.routes.fibers(source, destination), light.fabric.num_fibers(source, destination)
        return sum(1 << ((i + 1) * self._stride - 1) for i in range(number + 1) if i not in healthy)

    def _healthy(self, light: Spectrum, source: int, destination: int) -> int:
        """Mask of the wavelengths that all healthy fibers carry."""
        if source == destination or not light.routes.joins(source, destination):
            return 0
        return sum(light.carried << (i * self._stride) for i in light.routes.fibers(source, destination))

    def mark(self, fiber: Fiber, mask: int, *, is_taken: bool) -> None:
        """Wavelengths of a fiber are taken or given back."""
        source, destination, index = fiber
        shifted, taken = mask << (index * self._stride), self._taken[source]
        taken[destination] = taken[destination] | shifted if is_taken else taken[destination] & ~shifted
        self._room[source][destination] = (self._open[source][destination] & ~taken[destination]).bit_count()

    def spread(self, blocks: Blocks) -> Spread:
        """Blocks on servers as the light between these is now."""
        servers, counts = zip(*blocks, strict=True)
        if len(servers) == 1:
            return Spread(servers, counts, -1, ((0,),), ((counts[0], 0),))
        key = counts, *(self._taken[a][b] for a in servers for b in servers if a != b)
        room = tuple(tuple(self._room[a][b] for b in servers) for a in servers)
        least = [min(sum(out), sum(back)) for out, back in zip(room, zip(*room, strict=True), strict=True)]
        return Spread(servers, counts, self._number(key), room, tuple(zip(counts, least, strict=True)))

    def _number(self, key: tuple[object, ...]) -> int:
        number = self._numbers.get(key)
        if number is None:
            if len(self._numbers) > MOST_REMEMBERED:
                self._numbers.clear()
            number = self._numbers[key] = next(self._next)
        return number


class Spreads:
    """Divisions of jobs with the same key, with their light: each is found when it is first looked at."""

    def __init__(self, spreads: Iterable[Blocks], fibers: Fibers, boundaries: Boundaries) -> None:
        """`boundaries`: of the rows with this key."""
        self._spreads, self._fibers, self._boundaries = iter(spreads), fibers, boundaries
        self._found: list[tuple[Blocks, Spread]] = []
        self._ends: tuple[Ints, Ints] | None = None
        """(blocks, wavelengths) as in `Spread.ends`, (spreads, servers) each; None before all spreads were looked at"""
        self._is_open = np.zeros((0, 0), dtype=bool)
        """true where a spread is open to a row, (rows known so far, spreads)"""
        self._open: list[int] = []
        """rows with a spread that is open to them, of those known so far"""

    def open_to(self, rank: int) -> Iterable[tuple[Blocks, Spread]]:
        """Spreads with enough light between servers for the row of this rank; necessary, not sufficient."""
        if self._ends is None:
            return self._first_look(rank)
        while len(self._is_open) <= rank:
            self._look_further()
        return [self._found[number] for number in np.flatnonzero(self._is_open[rank]).tolist()]

    def _first_look(self, rank: int) -> Iterator[tuple[Blocks, Spread]]:
        needed = self._boundaries.first(rank + 1)[rank].tolist()
        for blocks in self._spreads:
            each = blocks, self._fibers.spread(blocks)
            self._found.append(each)
            if all(needed[count] <= least for count, least in each[1].ends):
                yield each
        self._ends = self._all_ends()

    def _all_ends(self) -> tuple[Ints, Ints]:
        most = max((len(blocks) for blocks, _ in self._found), default=0)
        ends = [(*spread.ends, *((0, 0),) * (most - len(blocks))) for blocks, spread in self._found]
        counts, least = np.array(ends, dtype=np.int64).reshape(len(ends), most, 2).transpose(2, 0, 1)
        return counts, least

    def open_after(self, rank: int) -> int:
        """The next row after this one, which was looked at, with a way that is open to it; beyond the last, if none."""
        place = bisect_right(self._open, rank)
        while place == len(self._open) and len(self._is_open) < len(self._boundaries):
            self._look_further()
        return self._open[place] if place < len(self._open) else len(self._boundaries)

    def _look_further(self) -> None:
        """Which spreads are open to some rows more."""
        assert self._ends is not None
        known, (counts, least) = len(self._is_open), self._ends
        boundaries = self._boundaries.first(max(FIRST_ROWS, known + 1))[known:]
        is_open: NDArray[np.bool_] = np.asarray((boundaries[:, counts] <= least).all(axis=2))
        self._is_open = np.concatenate([self._is_open.reshape(known, len(counts)), is_open])
        self._open += (known + np.flatnonzero(is_open.any(axis=1))).tolist()
