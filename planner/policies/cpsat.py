"""The exact policy: CP-SAT over counts, then over ranks and wavelengths, from the best heuristic plan."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np

from planner.candidates.expand import expand
from planner.candidates.knapsack_bounds import KnapsackBounds
from planner.cpsat.lns.racks import has_racks
from planner.cpsat.search import pattern_of
from planner.cpsat.solve import search_levels
from planner.cpsat.step1.constraints.groups import are_known_to_free_states
from planner.cpsat.step1.size import MOST_LITERALS, has_more_literals
from planner.fabrics import plugin_of
from planner.fabrics.pattern import route_pattern
from planner.fabrics.problem import Problem
from planner.heuristics.greedy import place_all, priced_rows
from planner.heuristics.ruin_recreate import PATIENCE, Effort, recreated
from planner.heuristics.strategies import in_order, tightest
from planner.model.clock import Clock
from planner.model.errors import InputError
from planner.model.plan import Assignment, Plan
from planner.model.result import Level, Result, SolveOptions, Status, relative_gap
from planner.policies.sipam_loop import place_by_loop
from planner.sweep.over_ray import RayCluster, ray_cluster

STARTS_SHARE = 0.2
"""of the time limit, after which no other heuristic is begun"""
ENOUGH = 0.001
"""of the bound, below which no other start is tried where step 1 would be too large to improve it"""
RECREATE_SHARE = 0.4
"""of the time left, for better starts where slots or slices matter, or step 1 would be too large"""
SLICES_PATIENCE = 60
"""rounds without a better start where jobs take slices"""

MOST_DROPPED = 20_000
"""dominated candidates up to which all listed ones are searched where the proof needs them"""


def cpsat(problem: Problem, options: SolveOptions) -> Result:
    """Optimal over the listed candidates where time allows; else the best plan found and a valid bound.

    The time limit begins once Ray has started; what it took to start and to end is `ray_s` of the statistics.
    InputError where racks shall be planned on a Ray cluster, but are no problems of their own.
    """
    if options.ray is None:
        return _searched(problem, options, None)
    if not has_racks(problem):
        raise InputError("--ray", options.ray, "has nothing to do: the racks of this cluster are not planned apart")
    started_s = time.perf_counter()
    with ray_cluster(options.ray) as cluster:
        begun_s = time.perf_counter()
        result = _searched(problem, options, cluster)
        ended_s = time.perf_counter()
    ray_s = begun_s - started_s + time.perf_counter() - ended_s
    return replace(result, statistics={**result.statistics, "ray_s": ray_s})


def _searched(problem: Problem, options: SolveOptions, cluster: RayCluster | None) -> Result:
    is_known = are_known_to_free_states(plugin_of(problem.cluster.fabric))
    result = search_levels(problem, options, _starts(problem, options) if is_known else (), cluster)
    if _has_lost_proof(problem, options, result):
        return _without_dropping(problem, options, result, cluster)
    return result


def _has_lost_proof(problem: Problem, options: SolveOptions, result: Result) -> bool:
    """Whether what was refuted costs the proof over candidates of pooled racks that were dropped, and these are few."""
    return (
        not plugin_of(problem.cluster.fabric).dominance.holds_in_step_two
        and result.status is not Status.OPTIMAL
        and result.statistics.get("undecided", 0) + result.statistics.get("refuted", 0) > 0
        and 0 < problem.num_dominated <= MOST_DROPPED
        and (result.gap is None or result.gap > options.gap)
        and result.wall_time_s < options.time_limit_s
        and not options.should_stop()
        and _is_as_listed(problem, _left(options, result))
    )


def _left(options: SolveOptions, result: Result) -> Clock:
    """The time that a result has left."""
    return Clock.of(options.time_limit_s - result.wall_time_s, options.should_stop)


def _is_as_listed(problem: Problem, clock: Clock) -> bool:
    """Whether the problem is what its instance expands to; others value candidates by other speeds, or have fewer."""
    whole = expand(problem.instance, clock=clock).options
    return all(
        len(mine) == len(other) and np.array_equal(mine.value, other.value)
        for mine, other in zip(problem.options, whole, strict=True)
    )


def _without_dropping(problem: Problem, options: SolveOptions, first: Result, cluster: RayCluster | None) -> Result:
    """The better of a result and of one over all listed candidates, which starts from it."""
    clock = _left(options, first)
    whole = expand(problem.instance, prune=False, clock=clock)
    left = replace(options.begun_after(first.wall_time_s), time_limit_s=clock.left_s, hint=None)
    start = [] if first.plan is None else [("undominated", first.plan.assignments)]
    second = search_levels(whole, left, start, cluster)
    if second.status is not Status.OPTIMAL and second.plan == first.plan:
        return first
    later = tuple(each.after(first.wall_time_s) for each in second.trace)
    return replace(
        second,
        levels=_with_tighter_bound(first.levels, second.levels),
        starts=first.starts,
        trace=(*first.trace, *later),
        wall_time_s=first.wall_time_s + second.wall_time_s,
    )


def _with_tighter_bound(first: tuple[Level, ...], second: tuple[Level, ...]) -> tuple[Level, ...]:
    """The later levels, the first of them with the better of both bounds on value."""
    top, before = second[0], first[0].bound
    if top.objective != "value" or top.value is None or before is None or top.bound is None or before >= top.bound:
        return second
    bound = max(before, top.value)
    return (replace(top, bound=bound, gap=relative_gap(top.value, bound)), *second[1:])


def _starts(problem: Problem, options: SolveOptions) -> Iterator[tuple[str, list[Assignment]]]:
    """Plans to start from, one at a time, made better at once where slots or slices matter, or step 1 would be
    too large; from short lists but for slices."""
    clock = options.counted(options.clock())
    if options.hint is not None and (hinted := realized_hint(problem, options.hint)) is not None:
        yield "hint", hinted
    fabric, starts = problem.cluster.fabric, plugin_of(problem.cluster.fabric).starts
    is_large = cache(lambda: has_more_literals(problem, MOST_LITERALS))
    short = starts.short_list(problem, is_large)
    bound = cache(lambda: KnapsackBounds.of(problem).bound)

    def is_enough(found: list[Assignment]) -> bool:
        value = sum(a.value for a in found)
        if options.gap > 0 and value >= (1 - options.gap) * bound():
            return True
        return value >= (1 - ENOUGH) * bound() and is_large()

    listed = problem if short is None else short
    best: list[Assignment] | None = None
    for best in _packings(listed, options, clock):
        yield "packed", best
        if clock.is_over or is_enough(best):
            return
    for name in starts.heuristics(problem.cluster) if best is None else ():
        found = _MAKERS[name](listed, clock)
        if found is not None:
            yield name, found
            best = found if best is None or sum(a.value for a in found) > sum(a.value for a in best) else best
        if best is not None and is_enough(best):
            return
        if best is not None and (fabric.slots_matter or clock.left_s <= (1 - STARTS_SHARE) * options.time_limit_s):
            break
    is_improved = short is not None or starts.are_improved
    if best is not None and is_improved and problem.instance.objectives[0].name == "value":
        patience = PATIENCE if fabric.slots_matter else SLICES_PATIENCE
        effort = Effort.of(options, clock.within(RECREATE_SHARE * clock.left_s), patience=patience)
        better = recreated(listed, best, options.seed, effort, bound())
        yield from (("recreate", plan) for plan in better)


def _priced(problem: Problem, clock: Clock) -> list[Assignment] | None:
    rows, jobs = priced_rows(problem)
    return place_all(problem, tightest, row_order=rows, job_order=jobs, clock=clock)


_MAKERS: dict[str, Callable[[Problem, Clock], list[Assignment] | None]] = {
    "priced": _priced,
    "first_fit": lambda problem, clock: place_all(problem, in_order, clock=clock),
    "best_fit": lambda problem, clock: place_all(problem, tightest, clock=clock),
    "sipam_loop": place_by_loop,
}


def _packings(problem: Problem, options: SolveOptions, clock: Clock) -> Iterator[list[Assignment]]:
    """Plans packed by counts, where the fabric has such packings."""
    effort = Effort.of(options, clock)
    starts = plugin_of(problem.cluster.fabric).starts
    return starts.packed(problem, options.seed, effort.clock, effort.rounds)


def realized_hint(problem: Problem, plan: Plan) -> list[Assignment] | None:
    """A given plan as a start: its jobs and counts routed anew; None where it does not fit this problem."""
    by_name = {options.job.name: options for options in problem.options}
    known = [a for a in plan.assignments if a.job in by_name and by_name[a.job].row_of(a.configuration) is not None]
    admitted = {a.job for a in known}
    if any(options.must_run and options.job.name not in admitted for options in problem.options):
        return None
    pattern = pattern_of(problem, known)
    if any(problem.options[j].must_stay and not choice.stays for j, choice in pattern.items()):
        return None
    return route_pattern(problem, pattern)
