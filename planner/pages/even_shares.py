"""Placements in which the same share of every tensor stays, and operators run again at even distances.

Ways then carry about as much in each pass as in any other, which is what hides the most copies behind operators where
a step repeats itself many times.
"""

from collections.abc import Sequence

import numpy as np

from planner.pages.heuristics import units
from planner.pages.problem import Bools, Ints, PageProblem, Pages, Task
from planner.pages.rounding import Shares, whole_pages

EIGHTHS = 8
"""steps of the share of tensors that are made again"""
HALVINGS = 10
"""of the largest share that stays"""
Order = tuple[bool | None, ...]
"""whose tensors stay as long as there is room, one kind after the other: those with a home, those without, or all"""
ORDERS: tuple[Order, ...] = ((None,), (False, True), (True, False))


def even_shares(problem: PageProblem) -> list[Pages] | None:
    """For each job the best of a few such placements, judged by simulation; None where they do not fit together."""
    found = [_best(problem, number) for number in range(len(problem.tasks))]
    placed = [pages for pages in found if pages is not None]
    return placed if len(placed) == len(found) and problem.fits(placed) else None


def _best(problem: PageProblem, number: int) -> Pages | None:
    """Who stays first, with nothing made again; then more and more of it as long as that is better."""
    task = problem.tasks[number]
    if not task.links or not len(task.count):
        return None
    has_both = len(set((task.home >= 0).tolist())) > 1
    starts = [(order, _even(task, 0, order)) for order in (ORDERS if has_both else ORDERS[:1])]
    order, best = min(starts, key=lambda start: problem.step_s(number, start[1]))
    best_s = problem.step_s(number, best)
    for eighths in range(1, EIGHTHS + 1) if task.can_be_remade.any() else ():
        pages = _even(task, eighths, order)
        if (step_s := problem.step_s(number, pages)) >= best_s:
            break
        best, best_s = pages, step_s
    return best


def _even(task: Task, eighths: int, order: Order) -> Pages:
    """So many eighths of the tensors that can be are made again, and as much as fits of all others stays."""
    after = np.array([each.after for each in task.program.absences], np.int64)
    able = np.flatnonzero(task.can_be_remade)
    able = able[np.argsort(after[able], kind="stable")]
    remade = np.zeros(len(task.count), np.bool_)
    for a in able[np.diff(np.arange(len(able) + 1) * eighths // EIGHTHS) > 0].tolist():
        remade[a] = not remade[list(task.excluded[a])].any()
    found = sorted((rows for rows in units(task) if not remade[rows[0]]), key=lambda rows: after[rows[0]])
    kept = np.zeros(len(task.count), np.int64)
    for is_home in order:
        kept = _filled(task, kept, [rows for rows in found if is_home in (None, task.home[rows[0]] >= 0)])
    return _pages(task, kept, remade)


def _filled(task: Task, kept: Ints, group: Sequence[list[int]]) -> Ints:
    """The largest share of each unit of absences stays for which there is room."""
    if not group:
        return kept
    counts = np.array([task.count[rows[0]] for rows in group], np.int64)
    before, rows = np.concatenate([[0], np.cumsum(counts)]), np.concatenate(group)
    unit = np.repeat(np.arange(len(group)), [len(each) for each in group])

    def with_share(share: float) -> Ints:
        found = kept.copy()
        found[rows] = np.diff(np.floor(before * share)).astype(np.int64)[unit]
        return found

    def fits(found: Ints) -> bool:
        return bool((task.is_at_peak @ found.astype(np.float64)).max(initial=0.0) <= task.local_pages)

    if fits(whole := with_share(1.0)):
        return whole
    least, most = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (least + most) / 2
        least, most = (middle, most) if fits(with_share(middle)) else (least, middle)
    return with_share(least)


def _pages(task: Task, kept: Ints, remade: Bools) -> Pages:
    """All else goes out, by the bandwidth of each way."""
    rates = np.array([link.bandwidth_bytes_per_s for link in task.links], np.float64)
    out = np.where(remade, 0.0, (task.count - kept) / task.count)
    return whole_pages(task, Shares(out[:, None] * (rates / rates.sum()), remade.astype(np.float64)), is_limited=False)
