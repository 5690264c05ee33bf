"""The jobs that fill one server best: a multiple-choice knapsack over accelerators and memory units."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.sipam.server_menus import MenuItem

NOT_TAKEN = -1
Gains = Sequence[float]


def fill(menus: Sequence[Sequence[MenuItem]], gains: Sequence[Gains], room: tuple[int, int]) -> list[tuple[int, int]]:
    """Job and item of each job taken, one item of a job at most, of the most gain together: exact, by dynamic
    programming over what is left; `gains` of each item of each job."""
    best = np.zeros((room[0] + 1, room[1] + 1))
    chosen = []
    for items, worth in zip(menus, gains, strict=True):
        best, choice = _with_job(best, items, worth)
        chosen.append(choice)
    ranks, units = room
    taken = []
    for job in reversed(range(len(menus))):
        number = int(chosen[job][ranks, units])
        if number != NOT_TAKEN:
            taken.append((job, number))
            ranks, units = ranks - menus[job][number].ranks, units - menus[job][number].units
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
