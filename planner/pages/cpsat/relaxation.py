"""A bound in little time: tensors in fractions, and copies without an order but that stretches of a step hold them.

Its shares are a placement too, once they are whole pages.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.formulation.linear import Floats, Rows, minimized
from planner.pages.cpsat.columns import Columns
from planner.pages.cpsat.times import pass_time
from planner.pages.cpsat.windows import Windows
from planner.pages.problem import PageProblem, Pages
from planner.pages.rounding import Shares, whole_pages

ROOM = 1.001
"""of the box of times beyond the longest step that matters"""


@dataclass(frozen=True)
class Relaxation:
    """Bound on the weighted time, and a placement near the shares that attain it."""

    bound_s: float
    pages: list[Pages]
    """they may not fit"""


def relax(
    problem: PageProblem, longest_s: Sequence[float], time_limit_s: float, *, is_fine: bool = False
) -> Relaxation | None:
    """Solve the relaxation; `longest_s` bounds each job's step. None where the time does not suffice.

    `is_fine`: with more rows, for few tensors. A step that takes no time needs no bound.
    """
    if min(longest_s) <= 0:
        return None
    columns, following = list[Columns](), 0
    for task, most_s in zip(problem.tasks, longest_s, strict=True):
        columns.append(Columns.of(task, Windows(task, problem.rules, is_fine), ROOM * most_s, following))
        following = columns[-1].following
    box, objective, rows = np.zeros((following, 2)), np.zeros(following), Rows()
    for own in columns:
        own.limit(box)
        own.place(rows)
        pass_time(rows, own)
        objective[own.end] = own.task.weight * own.longest_s
    _share(rows, problem, columns)
    solved = minimized(rows, box, objective, time_limit_s)
    if solved is None:
        return None
    return Relaxation(solved.bound, [_whole(problem, own, solved.columns) for own in columns])


def _whole(problem: PageProblem, own: Columns, values: Floats) -> Pages:
    shares = Shares(values[own.moved], values[own.remade])
    is_limited = any(problem.capacity_pages[memory] is not None for memory in own.task.memories)
    return whole_pages(own.task, shares, is_limited=is_limited)


def _share(rows: Rows, problem: PageProblem, columns: Sequence[Columns]) -> None:
    """Memories at the fullest place of each job's step."""
    for memory, capacity in enumerate(problem.capacity_pages):
        if capacity is None:
            continue
        found, sizes = list[int](), list[float]()
        for own in columns:
            task = own.task
            peak = max(task.away_peaks, key=lambda rows: task.count[rows].sum(), default=[])
            for link, leads_to in enumerate(task.memories):
                if leads_to == memory:
                    found += own.moved[peak, link].tolist()
                    sizes += task.count[peak].tolist()
        rows.add(found, sizes, 0.0, float(capacity))
