"""Placements by simple rules: one way first, evenly, by bandwidth, and by bandwidth with what stays chosen greedily."""

from collections.abc import Callable, Iterator
from itertools import chain

import numpy as np

from planner.pages.problem import Ints, PageProblem, Pages, Task

STAYING = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4)
"""of every tensor, where not all of it finds room elsewhere"""
Shares = Callable[[Task], list[float]]
"""of every tensor over the links of a job"""


def all_local(problem: PageProblem) -> list[Pages] | None:
    """Everything behind the first way with room: LOCAL of paper 004."""
    return _place(problem, lambda task: [1.0] + [0.0] * (len(task.links) - 1), keeps=False)


def bw_aware(problem: PageProblem) -> list[Pages] | None:
    """As much behind each way: BW_AWARE of paper 004."""
    return _place(problem, lambda task: [1.0] * len(task.links), keeps=False)


def proportional(problem: PageProblem) -> list[Pages] | None:
    """In proportion to bandwidths, so that the ways finish together."""
    return _place(problem, _bandwidths, keeps=False)


def greedy_keep(problem: PageProblem) -> list[Pages] | None:
    """In proportion to bandwidths; what leaves last stays, as far as local memory goes, since it is back first."""
    return _place(problem, _bandwidths, keeps=True)


def split(count: int, shares: list[float]) -> Ints:
    """Whole pages in proportion to shares."""
    ends = np.rint(np.cumsum(shares) / sum(shares) * count)
    return np.diff(ends, prepend=0).astype(np.int64)


def units(task: Task) -> list[list[int]]:
    """Absences that are placed alike: all of a tensor that the step does not make, each other one alone."""
    found: dict[int, list[int]] = {}
    for a, home in enumerate(task.home.tolist()):
        found.setdefault(a if home < 0 else home, []).append(a)
    return list(found.values())


def _bandwidths(task: Task) -> list[float]:
    return [link.bandwidth_bytes_per_s for link in task.links]


def _place(problem: PageProblem, shares: Shares, *, keeps: bool) -> list[Pages] | None:
    """What finds no room on its way goes another, then stays, then is made again; None where nothing is left.

    Only where that does not fit, first a share of every tensor stays, then room counts as if all were away at once.
    """
    endless = np.iinfo(np.int64).max
    limits = [endless if most is None else most for most in problem.capacity_pages]
    way = [shares(task) if task.links else [] for task in problem.tasks]

    def by_room(room: list[int]) -> list[Pages | None]:
        return [_place_task(task, each, room, keeps=keeps) for task, each in zip(problem.tasks, way, strict=True)]

    def in_part(stays: float) -> list[Pages | None]:
        return [_place_in_part(task, each, stays) for task, each in zip(problem.tasks, way, strict=True)]

    def attempts() -> Iterator[list[Pages | None]]:
        yield by_room([endless] * len(limits))
        yield from map(in_part, STAYING)
        yield by_room(limits)

    for placed in attempts():
        found = [pages for pages in placed if pages is not None]
        if len(found) == len(placed) and problem.fits(found):
            return found
    return None


def _place_in_part(task: Task, shares: list[float], stays: float) -> Pages | None:
    """The same share of every tensor stays."""
    if not shares:
        return None
    kept = np.floor(stays * task.count).astype(np.int64)
    by_count = {count: split(count, shares) for count in set((task.count - kept).tolist())}
    moved = np.array([by_count[count] for count in (task.count - kept).tolist()], np.int64).reshape(-1, len(shares))
    return Pages(moved, kept, np.zeros(len(kept), bool))


def _place_task(task: Task, shares: list[float], room: list[int], *, keeps: bool) -> Pages | None:
    count, local = len(task.count), task.local_pages
    pages = Pages(np.zeros((count, len(task.links)), np.int64), np.zeros(count, np.int64), np.zeros(count, bool))
    order = units(task)
    if keeps:
        order.sort(key=lambda rows: -task.program.absences[rows[0]].after)
    for rows in order:
        pages_left = int(task.count[rows[0]])
        stays = min(pages_left, local) if keeps else 0
        wanted = split(pages_left - stays, shares).tolist() if shares else []
        spills = [(link, pages_left) for link in sorted(range(len(wanted)), key=lambda i: -room[task.memories[i]])]
        for link, most in chain(enumerate(wanted), spills):
            given = min(most, pages_left - stays, room[task.memories[link]])
            pages.moved[rows, link] += given
            room[task.memories[link]] -= given
            pages_left -= given
        if pages_left <= local:
            pages.kept[rows] = pages_left
            local -= pages_left
        elif task.can_be_remade[rows].all() and not pages.remade[list(task.excluded[rows[0]])].any():
            for link, memory in enumerate(task.memories):
                room[memory] += int(pages.moved[rows[0], link])
            pages.moved[rows] = 0
            pages.remade[rows] = True
        else:
            return None
    return pages
