"""The jobs that fill one server best: a multiple-choice knapsack over accelerators and memory units."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.sipam.server_menus import MenuItem

NOT_TAKEN = -1
Gains = Sequence[float]
Room = tuple[int, int]
"""accelerators and memory units"""


@dataclass(frozen=True)
class Filling:
    """The best choice of jobs within every room up to that of a server, one item of a job at most."""

    best: NDArray[np.float64]
    """most gain within each room, shape (accelerators + 1, units + 1)"""
    _menus: Sequence[Sequence[MenuItem]]
    _chosen: Sequence[NDArray[np.int8]]

    @classmethod
    def of(cls, menus: Sequence[Sequence[MenuItem]], gains: Sequence[Gains], room: Room) -> Self:
        """Exact, by dynamic programming over what is left; `gains` of each item of each job."""
        best = np.zeros((room[0] + 1, room[1] + 1))
        chosen = []
        for items, worth in zip(menus, gains, strict=True):
            best, choice = _with_job(best, items, worth)
            chosen.append(choice)
        return cls(best, menus, chosen)

    def within(self, room: Room) -> list[tuple[int, int]]:
        """Number and item of each job taken of those that gain most in a room."""
        ranks, units = room
        taken = []
        for job in reversed(range(len(self._menus))):
            number = int(self._chosen[job][ranks, units])
            if number != NOT_TAKEN:
                taken.append((job, number))
                ranks, units = ranks - self._menus[job][number].ranks, units - self._menus[job][number].units
        return taken


def _with_job(
    best: NDArray[np.float64], items: Sequence[MenuItem], gains: Gains
) -> tuple[NDArray[np.float64], NDArray[np.int8]]:
    """Most gain within each room once one more job may take its share, and the item that it then has."""
    found, choice = best.copy(), np.full(best.shape, NOT_TAKEN, np.int8)
    for number, (item, gain) in enumerate(zip(items, gains, strict=True)):
        if gain <= 0 or item.ranks >= best.shape[0] or item.units >= best.shape[1]:
            continue
        with_it = best[: best.shape[0] - item.ranks, : best.shape[1] - item.units] + gain
        is_better = with_it > found[item.ranks :, item.units :]
        np.copyto(found[item.ranks :, item.units :], with_it, where=is_better)
        choice[item.ranks :, item.units :][is_better] = number
    return found, choice
