"""Which parts of a divided job may lie on which of its servers, by what any of them exchange with the others.

Where light crosses no third server, parts on some servers send the others no more light than the fibers between both
carry, and exchange none with parts on servers that no fiber joins with theirs. Both are necessary, for every set of
servers.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from planner.cpsat.divisions.ways import Division
from planner.fabrics.demand import Demand
from planner.formulation.step_one import PairLight

Ints = NDArray[np.int64]
Carried = tuple[tuple[int, ...], ...]
"""wavelengths that each of some servers can send each other one"""
MOST_LINES = 20_000
"""arrangements up to which they are listed"""
NEVER = 1_000_000
"""wavelengths, more than any servers can send"""


class Parting(NamedTuple):
    """What the parts of a job exchange, by the ranks of any of them; 0 where no parts have so many."""

    division: Division
    light: tuple[int, ...]
    """least wavelengths that leave them; NEVER where light may not be divided so"""
    apart: tuple[int, ...]
    """most ranks with which they exchange no light"""

    def in_fibers(self, carried: int) -> "Parting":
        """The same in whole fibers of so many wavelengths: what these carry, they carry of the former."""
        return self._replace(light=tuple(-(-light // carried) * carried for light in self.light))


def parting_of(links: PairLight, division: Division, shape: Demand) -> Parting:
    """What the parts of a job of this demand exchange where it is so divided."""
    ranks, part, leaving, apart = shape.num_ranks, shape.part, links.leaving(shape), links.apart(shape)
    light, alone = [0] * (ranks + 1), [0] * (ranks + 1)
    alone[0] = ranks
    for some in sums_of(division):
        light[some] = leaving.get(some // part, NEVER)
        alone[some] = part * apart[some // part]
    return Parting(division, tuple(light), tuple(alone))


def sums_of(division: Division) -> frozenset[int]:
    """Ranks of some of the parts, not of all."""
    sums = {0}
    for ranks in division:
        sums |= {ranks + some for some in sums}
    return frozenset(sums - {0, sum(division)})


@lru_cache(maxsize=1_000)
def arrangements(carried: Carried, parting: Parting) -> Ints | None:
    """Ranks on each of so many servers, every way that is not ruled out, shape (ways, servers); None where these are
    too many."""
    light, apart = np.array(parting.light), np.array(parting.apart)
    sets = _sets_of(carried)
    sizes = sorted({*parting.division}, reverse=True)
    lines = np.zeros((1, len(carried)), dtype=np.int64)
    left = np.array([[parting.division.count(size) for size in sizes]])
    for number, capacity in enumerate(sets.capacity[[2**number - 1 for number in range(1, len(carried) + 1)]]):
        lines, left = _with_next(lines, left, sizes, number)
        fits = light[lines.sum(axis=1)] <= capacity
        lines, left = lines[fits], left[fits]
        if len(lines) > MOST_LINES:
            return None
    ranks = lines @ sets.members
    may_lie = (light[ranks] <= sets.capacity) & (lines @ sets.beyond <= apart[ranks])
    return np.asarray(lines[may_lie.all(axis=1)])


def _with_next(lines: Ints, left: Ints, sizes: Sequence[int], server: int) -> tuple[Ints, Ints]:
    """Every line with one of the parts that are left on its next server."""
    row, part = np.nonzero(left)
    longer, fewer = lines[row], left[row]
    longer[:, server] = np.array(sizes)[part]
    fewer[np.arange(len(row)), part] -= 1
    return longer, fewer


class _Sets(NamedTuple):
    """All sets of some servers, by their masks."""

    members: Ints
    """shape (servers, sets)"""
    beyond: Ints
    """servers that no fiber joins with those of a set, shape (servers, sets)"""
    capacity: Ints
    """wavelengths that a set can send the others, NEVER where there are none, shape (sets,)"""


@lru_cache(maxsize=1_000)
def _sets_of(carried: Carried) -> _Sets:
    number, light = len(carried), np.array(carried)
    members = (np.arange(2**number) >> np.arange(number)[:, None]) & 1
    reached = light @ members
    beyond = (members == 0) & (reached == 0)
    capacity = (reached * (1 - members)).sum(axis=0)
    capacity[-1] = NEVER
    return _Sets(members, beyond.astype(np.int64), capacity)
