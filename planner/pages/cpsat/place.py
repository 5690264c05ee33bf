"""Placement of pages with CP-SAT: the best simple placement, made better by simulation and by the solver side by side.

What the solver finds is simulated, and its time is the simulation's. Its bound holds in any case: the model is the
simulated machine or leaves out some of its waits. Jobs are solved one by one, as if the others took no room, and
together where that does not fit. Above MOST_TENSORS the bound is that of a linear relaxation.
"""

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from costmodel.dataflow.streams.placement import kept
from costmodel.dataflow.streams.simulate import simulate
from planner.model.result import SolveOptions, Status
from planner.pages.cpsat.relaxation import relax
from planner.pages.cpsat.search import Search
from planner.pages.cpsat.solve import POLICY, Part, by_simulation
from planner.pages.improve import repaired
from planner.pages.problem import PageProblem, Pages
from planner.pages.result import PageResult

MOST_TENSORS = 400
"""of all jobs together: what the exact model is built for"""
FINE_S = 4.0
"""time limit from which the relaxation has more rows"""
PLAIN = 0.15
"""share of the time limit after which the solver joins the improvement by simulation"""
Start = tuple[str, Callable[[PageProblem], list[Pages] | None]]


def place_pages(problem: PageProblem, options: SolveOptions, starts: Iterable[Start]) -> PageResult:
    """The best placement found within the time limit; never slower than any of the starts."""
    search = Search(problem, options, steps_kept_s(problem))
    for name, make in starts:
        placed = make(problem)
        if placed is not None:
            search.offer(placed, name)
    is_large = sum(len(task.count) for task in problem.tasks) > MOST_TENSORS
    _relax(search)
    by_simulation(search, search.ends_s if is_large else search.at(PLAIN))
    if not is_large and (search.is_deterministic or options.time_limit_s >= FINE_S):
        _relax_jobs(search)
    is_impossible = not is_large and _solve(search)
    by_simulation(search, search.ends_s)
    return _result(search, is_impossible)


def steps_kept_s(problem: PageProblem) -> list[float]:
    """A bound for each job: its step without a copy and with nothing made again, weighted; ends only grow with
    durations."""
    return [
        task.weight * simulate(task.program, task.links, kept(task.program.size_bytes, task.links), problem.rules).end_s
        for task in problem.tasks
    ]


def _relax(search: Search) -> None:
    """The linear relaxation: its bound, and its shares as a placement where they can be made to fit."""
    problem = search.problem
    if search.best is None:
        return
    found = relax(problem, [search.longest_s(j) for j in range(len(problem.tasks))], search.left_s / 2)
    if found is not None:
        search.raise_bound(found.bound_s)
        placed = repaired(problem, found.pages)
        if placed is not None:
            search.offer(placed, "relaxation")


def _relax_jobs(search: Search) -> None:
    """The relaxation with more rows, job by job."""
    for number, task in enumerate(search.problem.tasks):
        if search.best is not None and not search.is_done:
            alone = replace(search.problem, tasks=(task,))
            longest_s = search.problem.step_s(number, search.best[number])
            found = relax(alone, [longest_s], search.left_s / 4, is_fine=True)
            if found is not None:
                search.raise_bound(found.bound_s, (number,))
                placed = repaired(alone, found.pages)
                if placed is not None:
                    search.offer_jobs((number,), placed, "relaxation")


def _solve(search: Search) -> bool:
    """Whether the solver proves that nothing fits."""
    everyone = tuple(range(len(search.problem.tasks)))
    if search.best is None or len(everyone) == 1:
        return not search.is_done and Part(search, everyone).solve(search.left_s)
    for number in everyone:
        if not search.is_done:
            parts_left = len(everyone) - number + search.is_crowded
            Part(search, (number,)).solve(search.left_s / parts_left)
    if search.is_crowded and not search.is_done:
        Part(search, everyone).solve(search.left_s)
    return False


def _result(search: Search, is_impossible: bool) -> PageResult:
    if search.best is None:
        status = Status.INFEASIBLE if is_impossible else Status.NO_PLAN
    else:
        status = Status.OPTIMAL if search.is_proven else Status.FEASIBLE
    has_plan = search.best is not None
    return PageResult(
        status=status,
        policy=POLICY,
        problem=search.problem,
        placed=tuple(search.best) if search.best is not None else None,
        value_s=search.value_s if has_plan else None,
        bound_s=search.bound_s if has_plan else None,
        wall_time_s=time.perf_counter() - search.started,
        trace=tuple(search.trace),
    )
