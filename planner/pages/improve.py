"""Placements made better one change at a time, each judged by the simulated step.

Which tensor a change is about is drawn by how long operators waited while it was copied: what is copied while nobody
waits costs nothing.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from costmodel.dataflow.streams.timeline import Timeline
from planner.pages.heuristics import split
from planner.pages.problem import PageProblem, Pages, Task
from planner.pages.rounding import divided

NOTICED = 1e-9
"""relative gain that counts as better"""
PATIENCE = 60
"""changes tried for each tensor since the last gain, before the search gives up"""


def improve(
    problem: PageProblem,
    placed: Sequence[Pages],
    until_s: float,
    generator: random.Random,
    on_better: Callable[[list[Pages], float], None],
    should_stop: Callable[[], bool],
) -> list[Pages]:
    """Random changes that do not slow the steps, until the clock of `time.perf_counter` shows `until_s` or long after
    the last gain."""
    best = list(placed)
    runs = [_Run(problem.timeline(j, pages)) for j, pages in enumerate(best)]
    idle, patience = 0, PATIENCE * sum(len(task.count) for task in problem.tasks)
    while idle < patience and time.perf_counter() < until_s and not should_stop():
        idle += 1
        number = generator.randrange(len(best))
        task = problem.tasks[number]
        if not len(task.count) or not task.links:
            continue
        changed = _changed(task, best[number], runs[number], generator)
        tried = [*best[:number], changed, *best[number + 1 :]] if changed is not None else best
        if changed is None or not problem.fits(tried):
            continue
        run = _Run(problem.timeline(number, changed))
        if run.end_s <= runs[number].end_s:
            is_better = run.end_s < runs[number].end_s * (1 - NOTICED)
            best, runs[number] = tried, run
            if is_better:
                idle = 0
                value_s = sum(each.weight * known.end_s for each, known in zip(problem.tasks, runs, strict=True))
                on_better(best, value_s)
    return best


def _changed(task: Task, pages: Pages, run: "_Run", generator: random.Random) -> Pages | None:
    """One change or two, None where none is possible."""
    found = None
    for change in generator.choices(CHANGES, WEIGHTS, k=1 + (generator.random() < TWICE)):
        found = change(task, found or pages, run, generator) or found
    return found


@dataclass(frozen=True)
class _Run:
    """A simulated step, from which it is drawn what to change."""

    timeline: Timeline

    @property
    def end_s(self) -> float:
        return self.timeline.end_s

    @cached_property
    def waits_s(self) -> list[float]:
        """(A,) for which operators wait while each tensor is copied, or would be: right after the operator after which
        it leaves, right before the one that needs it."""
        program, starts_s, ends_s = self.timeline.program, self.timeline.starts_s, self.timeline.ends_s
        own_s = self.timeline.waits_s[:, 0]
        at_s, waited_s = np.ravel([starts_s - own_s, starts_s], order="F"), np.cumsum(own_s)
        known_s = np.ravel([waited_s - own_s, waited_s], order="F")
        takes_s = program.size_bytes / sum(link.bandwidth_bytes_per_s for link in self.timeline.links)
        left_s = np.array([ends_s[each.after] for each in program.absences])
        needed_s = np.array([starts_s[min(each.before, len(starts_s) - 1)] for each in program.absences])
        spans = ((left_s, left_s + takes_s, program.leaves), (needed_s - takes_s, needed_s, program.returns))
        found = sum(
            (np.interp(to, at_s, known_s) - np.interp(since, at_s, known_s)) * copied for since, to, copied in spans
        )
        return list(found)

    @cached_property
    def _weights(self) -> list[float]:
        """Cumulated: half by waits, half alike."""
        total, count = sum(self.waits_s), len(self.waits_s)
        return list(accumulate(1 / count + (wait_s / total if total else 0.0) for wait_s in self.waits_s))

    def draw(self, generator: random.Random) -> int:
        """An absence whose copies others waited for, more often than not."""
        return generator.choices(range(len(self.waits_s)), cum_weights=self._weights)[0]

    def draw_idle(self, absences: list[int], generator: random.Random) -> int:
        """Of some, one whose copies nobody waited for, if three that are drawn have one."""
        return min(generator.choices(absences, k=3), key=lambda a: self.waits_s[a])


def repaired(problem: PageProblem, placed: Sequence[Pages]) -> list[Pages] | None:
    """Pages that nearly fit made to fit: what is too much locally goes out, where there is room; None otherwise."""
    found = [_copy(pages) for pages in placed]
    for task, pages in zip(problem.tasks, found, strict=True):
        _break_pairs(task, pages)
        rows = np.flatnonzero(task.home >= 0)
        pages.moved[rows] = np.minimum(pages.moved[rows], pages.moved[task.home[rows]])
        pages.kept[rows] = task.count[rows] - pages.moved[rows].sum(axis=1)
        for peak in task.local_peaks:
            excess = int(pages.kept[peak].sum()) - task.local_pages
            for a in sorted(peak, key=lambda a: pages.kept[a]) if excess > 0 else ():
                count = min(excess, int(pages.kept[a]))
                _send(task, pages, _unit(task, a), count)
                excess -= count
        for a in rows.tolist():
            most = pages.moved[task.home[a]]
            pages.moved[a] = divided(min(int(pages.moved[a].sum()), int(most.sum())), pages.moved[a] * 1.0, most)
            pages.kept[a] = task.count[a] - pages.moved[a].sum()
    return found if problem.fits(found) else None


def _break_pairs(task: Task, pages: Pages) -> None:
    for a in np.flatnonzero(pages.remade).tolist():
        if pages.remade[list(task.excluded[a])].any():
            _return(task, pages, a)


def _copy(pages: Pages) -> Pages:
    return Pages(pages.moved.copy(), pages.kept.copy(), pages.remade.copy())


def _unit(task: Task, absence: int) -> list[int]:
    """The absence, or all of its tensor where that has a home."""
    home = int(task.home[absence])
    return [absence] if home < 0 else np.flatnonzero(task.home == home).tolist()


def _shares(task: Task) -> list[float]:
    return [link.bandwidth_bytes_per_s for link in task.links]


def _send(task: Task, pages: Pages, rows: list[int], count: int) -> None:
    """Kept pages go out, in proportion to bandwidths, as many as each of these absences has."""
    for row in rows:
        sent = min(count, int(pages.kept[row]))
        pages.kept[row] -= sent
        pages.moved[row] += split(sent, _shares(task))


def _stay(pages: Pages, rows: list[int], count: int) -> None:
    """Pages elsewhere stay, in proportion to where they are, as many as each of these absences has."""
    for row in rows:
        out = int(pages.moved[row].sum())
        if out:
            left = max(out - count, 0)
            pages.kept[row] += out - left
            pages.moved[row] = split(left, pages.moved[row].tolist())


def _return(task: Task, pages: Pages, absence: int) -> None:
    """A tensor that was made again goes out instead."""
    pages.remade[absence] = False
    pages.moved[absence] = split(int(task.count[absence]), _shares(task))


def _remake(task: Task, pages: Pages, run: _Run, generator: random.Random) -> Pages | None:
    """Make a tensor again, or no longer; what excludes that gives way."""
    absence = run.draw(generator)
    if not task.can_be_remade[absence] or not task.links:
        return None
    changed = _copy(pages)
    if pages.remade[absence]:
        _return(task, changed, absence)
        return changed
    for other in task.excluded[absence]:
        if changed.remade[other]:
            _return(task, changed, other)
    changed.remade[absence] = True
    changed.moved[absence], changed.kept[absence] = 0, 0
    return changed


def _keep(task: Task, pages: Pages, run: _Run, generator: random.Random) -> Pages | None:
    """Pages of one tensor stay; others go out for them where local memory is full."""
    rows = _some(task, run.draw(generator), generator)
    out = int(pages.moved[rows].sum(axis=1).max())
    if not out or not task.local_pages:
        return None
    changed = _copy(pages)
    wanted = min(out if generator.random() < 0.4 else generator.randint(1, out), task.local_pages)
    while (lacking := wanted - (task.local_pages - _kept_beside(task, changed, rows))) > 0:
        others = [a for a in np.flatnonzero(changed.kept).tolist() if a not in rows]
        if not others:
            return None
        given_up = run.draw_idle(others, generator)
        count = int(changed.kept[given_up])
        given = min(count, lacking) if generator.random() < 0.7 else count
        _send(task, changed, _unit(task, given_up), given)
    _stay(changed, rows, wanted)
    return changed


def _some(task: Task, absence: int, generator: random.Random) -> list[int]:
    """An absence alone, or all of its tensor where that has a home."""
    return [absence] if generator.random() < 0.5 else _unit(task, absence)


def _kept_beside(task: Task, pages: Pages, rows: list[int]) -> int:
    """Pages that stay at the fullest place where these absences are."""
    is_here = task.is_at_peak[:, rows].any(axis=1)
    return int((task.is_at_peak[is_here] @ pages.kept.astype(np.float64)).max(initial=0))


def _shift(task: Task, pages: Pages, run: _Run, generator: random.Random) -> Pages | None:
    """Pages of one tensor go another way; half of the time as many of another tensor come back."""
    if len(task.links) < 2:
        return None
    source, target = generator.sample(range(len(task.links)), 2)
    changed, is_swap = _copy(pages), generator.random() < 0.5
    chosen = [_unit(task, run.draw(generator)) for _ in range(1 + is_swap)]
    most = [int(changed.moved[rows, link].min()) for rows, link in zip(chosen, (source, target), strict=False)]
    if not min(most):
        return None
    count = generator.randint(1, max(1, min(most) // generator.choice((1, 8))))
    for rows, (here, there) in zip(chosen, ((source, target), (target, source)), strict=False):
        changed.moved[rows, here] -= count
        changed.moved[rows, there] += count
    return changed


CHANGES = (_remake, _keep, _shift)
WEIGHTS = (0.35, 0.45, 0.2)
TWICE = 0.35
"""share of trials with two changes at once"""
