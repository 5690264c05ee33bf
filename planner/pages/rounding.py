"""Shares of tensors as whole pages, divided over links so that on the whole none carries more than its share."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.pages.heuristics import units
from planner.pages.problem import Ints, Pages, Task

Floats = NDArray[np.float64]
WHOLE = 1e-6
"""of a page: what counts as none"""


@dataclass(frozen=True)
class Shares:
    """Of each absent tensor, adding up to 1 in each row."""

    moved: Floats
    """(A, L)"""
    remade: Floats
    """(A,)"""


def whole_pages(task: Task, shares: Shares, *, is_limited: bool) -> Pages:
    """No more stays than the shares say; what is mostly made again is so.

    Tensors are divided by bandwidth, or as their sum is where a memory may be full (`is_limited`), so that links work
    on each at the same time; what a link got too much of one tensor it gets less of the next. Every absence of a
    tensor with a home has its pages where they are at home.
    """
    remade = (shares.remade > 0.5) & task.can_be_remade
    out = np.where(remade, 0, np.ceil(shares.moved.sum(axis=1) * task.count - WHOLE).clip(0)).astype(np.int64)
    out = np.minimum(out, task.count)
    wanted = np.array([link.bandwidth_bytes_per_s for link in task.links], np.float64)
    if is_limited:
        wanted = (shares.moved * task.count[:, None]).sum(axis=0)
    wanted = wanted / max(wanted.sum(), WHOLE)
    moved, owed = np.zeros((len(out), len(wanted)), np.int64), np.zeros(len(wanted))
    for rows in units(task):
        most = int(out[rows].max())
        widest = divided(most, wanted * most + owed, np.full(len(wanted), most))
        owed += wanted * most - widest
        for row in rows:
            count = int(out[row])
            moved[row] = widest if count == most else divided(count, widest * count / max(most, 1), widest)
    return Pages(moved, np.where(remade, 0, task.count - out), remade)


def divided(count: int, wanted: Floats, most: Ints) -> Ints:
    """`count` pages near `wanted`, none below 0 or above `most`, which add up to `count` or more."""
    given: Ints = np.minimum(np.floor(wanted + WHOLE).clip(0), most).astype(np.int64)
    while (lacking := count - int(given.sum())) != 0:
        room = given < most if lacking > 0 else given > 0
        short = np.where(room, (wanted - given) * np.sign(lacking), -np.inf)
        given[int(np.argmax(short))] += np.sign(lacking)
    return given
