"""The jobs that fill one server best: a multiple-choice knapsack over accelerators and memory units."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.sipam.server_menus import MenuItem

Gains = Sequence[float]
Room = tuple[int, int]
"""accelerators and memory units"""


@dataclass(frozen=True)
class Filling:
    """The best choice of jobs within every room up to that of a server, one item of a job at most."""

    best: NDArray[np.float64]
    """most gain within each room, shape (accelerators + 1, units + 1)"""
    _menus: Sequence[Sequence[MenuItem]]
    _gains: Sequence[Gains]
    _before: Sequence[NDArray[np.float64]]
    """the same of the jobs before each one"""

    @classmethod
    def of(cls, menus: Sequence[Sequence[MenuItem]], gains: Sequence[Gains], room: Room) -> Self:
        """Exact, by dynamic programming over what is left; `gains` of each item of each job."""
        *before, best = _tables(menus, gains, room)
        return cls(best, menus, gains, before)

    def within(self, room: Room) -> list[tuple[int, int]]:
        """Number and item of each job taken of those that gain most in a room."""
        (ranks, units), best = room, self.best
        taken = []
        for job in reversed(range(len(self._menus))):
            most, best = best[ranks, units], self._before[job]
            if most == best[ranks, units]:
                continue
            for number, (item, gain) in enumerate(zip(self._menus[job], self._gains[job], strict=True)):
                left = ranks - item.ranks, units - item.units
                if min(left) >= 0 and best[left] + gain == most:
                    taken.append((job, number))
                    ranks, units = left
                    break
        return taken


def most_gain(menus: Sequence[Sequence[MenuItem]], gains: Sequence[Gains], room: Room) -> NDArray[np.float64]:
    """`best` of a filling, without what it takes to say which jobs these are."""
    return deque(_tables(menus, gains, room), maxlen=1)[0]


def _tables(menus: Sequence[Sequence[MenuItem]], gains: Sequence[Gains], room: Room) -> Iterator[NDArray[np.float64]]:
    """Most gain within each room of no job, of the first, of the first two and so on."""
    best = np.zeros((room[0] + 1, room[1] + 1))
    yield best
    for items, worth in zip(menus, gains, strict=True):
        best = _with_job(best, items, worth)
        yield best


def _with_job(best: NDArray[np.float64], items: Sequence[MenuItem], gains: Gains) -> NDArray[np.float64]:
    """Most gain within each room once one more job may take its share; the very same where that gains nothing."""
    found = best
    for item, gain in zip(items, gains, strict=True):
        if gain > 0 and item.ranks < best.shape[0] and item.units < best.shape[1]:
            found = best.copy() if found is best else found
            with_it = best[: best.shape[0] - item.ranks, : best.shape[1] - item.units] + gain
            np.maximum(found[item.ranks :, item.units :], with_it, out=found[item.ranks :, item.units :])
    return found
