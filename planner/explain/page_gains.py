"""What a little more memory or bandwidth would save: each change alone, searched from the placement that is known.

The unchanged problem is searched on for as long as each change, so that a saving is not the merit of more search.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import floor

import numpy as np

from planner.model.result import SolveOptions
from planner.pages.cpsat.place import place_pages
from planner.pages.improve import repaired
from planner.pages.problem import PageProblem, Pages, Task
from planner.pages.result import PageResult
from planner.pages.rounding import Shares, whole_pages


@dataclass(frozen=True)
class PageGain:
    """A change and what it is worth; the known placement holds it too, so that no change costs time."""

    change: str
    value_s: float
    saved_s: float
    """found"""
    saved_at_most_s: float
    """proven"""


def page_gains(result: PageResult, *, time_limit_s: float, options: SolveOptions, more: float = 0.1) -> list[PageGain]:
    """Every way faster, every memory and local budget larger by `more`; all share the time limit."""
    if result.placed is None or result.value_s is None:
        return []
    changes = [_Change("", result.problem), *_changes(result.problem, more)]
    until_s, found, known = time.perf_counter() + time_limit_s, list[PageGain](), result.placed
    for number, change in enumerate(changes):
        share_s = max(until_s - time.perf_counter(), 0.0) / (len(changes) - number)
        own = replace(options, time_limit_s=share_s, on_incumbent=None)
        changed = place_pages(
            change.problem, own, [("known", _constant(known)), ("divided anew", _divided_anew(known))]
        )
        assert changed.placed is not None
        assert changed.value_s is not None
        assert changed.bound_s is not None
        if number == 0:
            value_s, known = changed.value_s, changed.placed
            bound_s = max(changed.bound_s, result.bound_s or 0.0)
            continue
        least_s = max(changed.bound_s, change.least_share * bound_s)
        saved_s = max(value_s - changed.value_s, 0.0)
        found.append(PageGain(change.name, changed.value_s, saved_s, max(value_s - least_s, saved_s)))
    return sorted(found, key=lambda each: -each.saved_s)


@dataclass(frozen=True)
class _Change:
    """More of something."""

    name: str
    problem: PageProblem
    least_share: float = 0.0
    """of the step's time without it that any step takes with it: if all was faster by as much, all times would shrink
    alike"""


def _constant(placed: Sequence[Pages]) -> Callable[[PageProblem], list[Pages]]:
    return lambda problem: list(placed)


def _divided_anew(placed: Sequence[Pages]) -> Callable[[PageProblem], list[Pages] | None]:
    """As many pages of each tensor elsewhere, divided by the bandwidths that there are now."""

    def divided(problem: PageProblem) -> list[Pages] | None:
        pairs = zip(problem.tasks, placed, strict=True)
        shares = [(task, Shares(p.moved / task.count[:, None], p.remade.astype(np.float64))) for task, p in pairs]
        return repaired(problem, [whole_pages(task, each, is_limited=False) for task, each in shares])

    return divided


def _changes(problem: PageProblem, more: float) -> Iterator[_Change]:
    percent = f"{100 * more:g} % more"
    for memory, name in enumerate(problem.memories):
        if any(memory in task.memories for task in problem.tasks):
            tasks = tuple(_faster(task, memory, 1 + more) for task in problem.tasks)
            yield _Change(f"{percent} bandwidth to {name}", replace(problem, tasks=tasks), 1 / (1 + more))
        capacity = problem.capacity_pages[memory]
        if capacity:
            larger = list(problem.capacity_pages)
            larger[memory] = floor(capacity * (1 + more))
            yield _Change(f"{percent} capacity of {name}", replace(problem, capacity_pages=tuple(larger)))
    for number, task in enumerate(problem.tasks):
        if task.local_pages:
            roomier = replace(task, local_pages=floor(task.local_pages * (1 + more)))
            tasks = (*problem.tasks[:number], roomier, *problem.tasks[number + 1 :])
            yield _Change(f"{percent} local memory for {task.name}", replace(problem, tasks=tasks))


def _faster(task: Task, memory: int, factor: float) -> Task:
    """The job with faster links to one memory."""
    links = tuple(
        link.model_copy(update={"bandwidth_bytes_per_s": link.bandwidth_bytes_per_s * factor})
        if leads_to == memory
        else link
        for link, leads_to in zip(task.links, task.memories, strict=True)
    )
    return replace(task, links=links)
