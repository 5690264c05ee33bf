"""Slices chosen by placed steps, by logic-based Benders decomposition.

The master problem chooses configurations and slices, a candidate that offloads being priced by a time that no places
of its tensors go below. The subproblem places the tensors of each chosen one. Where these take longer, that row takes
the longer step from now on, and the master problem chooses again; the loop ends when it chooses rows with known steps
alone, or when time is up: then rows whose steps are not known count as slow. Where places are not proven best, the
bound comes from one more master problem, in which no row takes longer than it has to.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from planner.fabrics.problem import Problem
from planner.model.clock import Clock
from planner.model.plan import Assignment
from planner.model.result import Level, Result, SolveOptions, Status, relative_gap
from planner.pages.offload import place, without_tier_s
from planner.pages.placed_prices import JobPrices, View, are_proven, priced
from planner.pages.told import Told

Policy = Callable[[Problem, SolveOptions], Result]
LOOP_SHARE, MASTER_SHARE, PLACE_SHARE = 0.7, 0.5, 0.3
"""of all the time for the loop, where a bound is to be found after it; of the loop's time that is left for one choice
of slices at most, and for the places of what it chose"""
BOUND_S, LAST_S = 2.0, 0.1
"""for the bound at least; for places where time is up"""
ROUGH = 0.01
"""gap of choices before places are known, where a better one would be made anew"""


def solve_placed(problem: Problem, policy: Policy, options: SolveOptions) -> Result:
    """A plan whose values are those of placed steps; OPTIMAL where choice and places are proven best."""
    told, rounds = Told(problem, options), 0
    whole = Clock.of(options.time_limit_s + (options.pages_time_limit_s or 0.0), options.should_stop)
    clock = whole.within(LOOP_SHARE * whole.left_s)
    jobs = [JobPrices(each, problem.cluster.device) for each in problem.options]
    hint, gap = options.hint, max(options.gap, ROUGH)
    view: View = "found"
    while True:
        rounds += 1
        if clock.is_over:
            view, hint = "known", told.plan or hint
        limit_s = max(MASTER_SHARE * clock.left_s, LAST_S)
        own = replace(told.options_of(jobs, view), time_limit_s=limit_s, hint=hint, gap=gap)
        result = policy(priced(problem, jobs, view), own)
        if result.plan is None:
            break
        chosen, hint = _chosen(problem, jobs, result.plan.assignments), result.plan
        for j, row in chosen:
            _settle(jobs, j, row, PLACE_SHARE * clock.left_s / len(chosen), options)
        told.tell_plan(result.plan, jobs, rounds)
        if not chosen and (gap == options.gap or view == "known"):
            break
        if not chosen:
            gap = options.gap
    statistics = {**result.statistics, "rounds of places": rounds, "placed": sum(len(each.tiers) for each in jobs)}
    done = replace(result, wall_time_s=told.elapsed_s, statistics=statistics)
    if view == "known" or not are_proven(jobs):
        own = replace(told.options_of(jobs, "bound"), time_limit_s=max(whole.left_s, BOUND_S), hint=hint)
        done = _with_bound(done, policy(priced(problem, jobs, "bound"), own))
    return _with_places(problem, jobs, told.ended(done))


def _chosen(problem: Problem, jobs: Sequence[JobPrices], assignments: Sequence[Assignment]) -> list[tuple[int, int]]:
    """Jobs with their rows in a plan whose placed steps are not known yet."""
    found, number = [], {options.job.name: j for j, options in enumerate(problem.options)}
    for assignment in assignments:
        j = number[assignment.job]
        row = problem.options[j].row_of(assignment.configuration)
        assert row is not None
        if jobs[j].is_placed[row] and row not in jobs[j].tiers:
            found.append((j, row))
    return found


def _settle(jobs: Sequence[JobPrices], j: int, row: int, limit_s: float, options: SolveOptions) -> None:
    """Places for a row, which hold for the jobs that ask for the same."""
    job = jobs[j]
    tier = place(job.options.job.name, job.step(row), replace(options, time_limit_s=max(limit_s, LAST_S)))
    assert tier is not None, "a listed row has room for its tensors"
    for each in jobs:
        if each is job or each.asks == job.asks:
            each.settle(row, tier)


def _with_bound(result: Result, master: Result) -> Result:
    """The result with the bound on value of a master problem in which no row takes longer than its places may."""
    levels = list[Level]()
    for level in result.levels:
        bound = next((each.bound for each in master.levels if each.objective == level.objective), None)
        is_first = not levels and level.objective == "value" and bound is not None and level.value is not None
        bound = max(bound, level.value) if is_first and bound is not None and level.value is not None else None
        status = level.status if bound == level.value and is_first else _less(level.status)
        levels.append(replace(level, bound=bound, gap=relative_gap(level.value, bound), status=status))
    is_proven = all(level.status is Status.OPTIMAL for level in levels)
    return replace(result, levels=tuple(levels), status=result.status if is_proven else _less(result.status))


def _less(status: Status) -> Status:
    return Status.FEASIBLE if status is Status.OPTIMAL else status


def _with_places(problem: Problem, jobs: Sequence[JobPrices], result: Result) -> Result:
    """The plan with the places of its jobs' tensors."""
    if result.plan is None:
        return result
    number = {options.job.name: j for j, options in enumerate(problem.options)}
    placed = []
    for assignment in result.plan.assignments:
        job = jobs[number[assignment.job]]
        row = job.options.row_of(assignment.configuration)
        tier = None if row is None else job.tiers.get(row)
        if tier is not None:
            tier = tier.model_copy(update={"without_s": without_tier_s(problem.instance, assignment)})
        placed.append(assignment.model_copy(update={"second_tier": tier}))
    return replace(result, plan=result.plan.model_copy(update={"assignments": tuple(placed)}))
