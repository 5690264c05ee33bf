"""Solve level by level, and say what was proven."""

from collections.abc import Iterable, Sequence

from planner.candidates.energy_bounds import least_energy
from planner.cpsat.benders import LevelOutcome, optimize
from planner.cpsat.core import optimize_value, restrict_to_ties
from planner.cpsat.kept import Kept
from planner.cpsat.left_out import left_out_of
from planner.cpsat.refine import refine
from planner.cpsat.search import Search
from planner.cpsat.step1.constraints.groups import are_known_to_free_states
from planner.cpsat.step1.objectives import OBJECTIVES
from planner.cpsat.step2.compact import compact
from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
from planner.model.clock import Clock
from planner.model.collector import resting_collector
from planner.model.instance import Objective
from planner.model.plan import Assignment, Plan
from planner.model.result import Level, Result, SolveOptions, Start, Status, is_worse, relative_gap, stated
from planner.sweep.over_ray import RayCluster

LEAST_SHARE = 0.05
"""of the time limit, below which no level is searched once more"""


def search_levels(
    problem: Problem,
    options: SolveOptions,
    starts: Iterable[tuple[str, Sequence[Assignment]]],
    cluster: RayCluster | None = None,
) -> Result:
    """Solve every level of the lexicographic order, starting from the best of the given plans; racks on a Ray cluster,
    where there is one."""
    search = Search(problem, options, cluster)
    _adopt_best_start(search, starts)
    levels: list[Level] = []
    for index in range(len(problem.instance.objectives)):
        levels.append(_searched(search, index))
        if search.assignments is None:
            return _finish(search, levels, levels[-1].status)
    _go_on(search, levels)
    proven = all(level.status is Status.OPTIMAL for level in levels)
    if proven or not search.options.gap:  # who asks for a gap wants a plan soon
        compact(search)
    return _finish(search, levels, Status.OPTIMAL if proven else Status.FEASIBLE)


def _searched(search: Search, index: int, before: Level | None = None) -> Level:
    """One level, from the bound that it had before, in its share of the time that is left; those above it are kept."""
    objective = search.full.instance.objectives[index]
    clock = search.clock.within(search.seconds_left(index))
    search.bound, search.floor = None if before is None else before.bound, float("-inf")
    _bound_energy(search, objective.name)
    is_known = are_known_to_free_states(plugin_of(search.full.cluster.fabric))
    if index == 0 and objective.name == "value" and is_known:
        outcome = optimize_value(search, clock)
    else:
        if index == 0:
            search.restrict(search.full)
        outcome = _optimize(search, objective.name, clock)
    is_proven = search.assignments is not None and (outcome.is_proven or search.reaches(objective.name))
    is_proven = is_proven and refine(search, objective.name, clock)
    level = _closed(search, objective, outcome, is_proven=is_proven)
    if search.assignments is not None:
        if index == 0 and objective.name == "value" and len(search.full.instance.objectives) > 1:
            restrict_to_ties(search, objective.tolerance)
        search.keep(objective.name, objective.tolerance, is_proven=is_proven)
    return level


def _go_on(search: Search, levels: list[Level]) -> None:
    """Levels that are not proven are searched once more in the time that is left, and those below one that changed the
    plan with it; none where work is limited instead of time, where the first is as near as was asked, or of which later
    ones have given up some: that would be given up twice."""
    first, asked = levels[0].gap, search.options.gap
    if first is not None and asked > 0 and first <= asked:
        return
    for index in range(len(levels)):
        if levels[index].status is Status.OPTIMAL or not _has_time(search) or _is_given_up(search, search.kept[index]):
            continue
        plan, below = search.assignments, search.kept[index + 1 :]
        search.go_back(search.kept[:index])
        levels[index] = _searched(search, index, levels[index])
        if search.assignments is plan:
            search.go_back([*search.kept, *below])
        else:
            levels[index + 1 :] = [_searched(search, later) for later in range(index + 1, len(levels))]


def _is_given_up(search: Search, kept: Kept) -> bool:
    """Whether the best plan lies below a level that is kept, since a later one has used its tolerance."""
    value, is_maximized = search.value(kept.objective), OBJECTIVES[kept.objective].is_maximized
    return value is None or is_worse(value, kept.value, is_maximized=is_maximized)


def _has_time(search: Search) -> bool:
    options, is_open = search.options, not (search.is_stopped or search.needs_dropped)
    return is_open and options.deterministic_limit is None and search.clock.left_s > LEAST_SHARE * options.time_limit_s


def _adopt_best_start(search: Search, starts: Iterable[tuple[str, Sequence[Assignment]]]) -> None:
    """Report every start that beats those before it on level 1."""
    first = search.full.instance.objectives[0].name
    sign = 1 if OBJECTIVES[first].is_maximized else -1
    for name, assignments in starts:
        best, value = search.value(first), OBJECTIVES[first].value(search.full, assignments)
        search.starts[name] = Start(value, tuple(assignments))
        if best is None or sign * value > sign * best:
            search.assignments = tuple(assignments)
            search.report(first, None, name)


def _bound_energy(search: Search, objective: str) -> None:
    """Where the value is kept, what no plan of that value undercuts, whatever step 2 then decides."""
    known, before = search.value(objective), search.bound
    values = [kept.value - kept.spend for kept in search.kept if kept.objective == "value"]
    if objective != "energy" or not values or known is None:
        return
    least = least_energy(search.full.options, search.full.cluster.num_healthy, values[0], known)
    if least is not None and (before is None or least > before):
        search.bound = least
        search.report(objective, search.bound, "prices")


def _optimize(search: Search, objective: str, clock: Clock) -> LevelOutcome:
    """Optimize a level that may have nothing to decide: what is minimized is never below 0."""
    value = search.value(objective)
    if not OBJECTIVES[objective].is_maximized and value == 0.0:
        return LevelOutcome(is_proven=True)
    if search.is_stopped or not (search.build(clock) and search.can_state(objective)):
        return LevelOutcome(is_proven=False)
    if isinstance(search.model.term(objective).expression, int) and value is not None:
        return LevelOutcome(is_proven=True)
    return optimize(search, objective, clock)


def _closed(search: Search, objective: Objective, outcome: LevelOutcome, *, is_proven: bool) -> Level:
    """The level as it ends: a proven one has its value as bound."""
    name, value = objective.name, search.value(objective.name)
    if value is None:
        status = Status.INFEASIBLE if outcome.is_infeasible else Status.NO_PLAN
        return Level(name, None, search.bound, None, status)
    bound = value if is_proven else search.bound
    if bound is not None:
        bound = max(bound, value) if OBJECTIVES[name].is_maximized else min(bound, value)
    search.report(name, bound, "proven" if is_proven else "limit")
    status = Status.OPTIMAL if is_proven else Status.FEASIBLE
    return Level(name, value, bound, relative_gap(value, bound), status, objective.tolerance)


@resting_collector()
def _finish(search: Search, levels: Sequence[Level], status: Status) -> Result:
    plan = None if search.assignments is None else plan_of(search.full, search.assignments)
    return Result(
        status=status,
        policy="cpsat",
        plan=plan,
        levels=tuple(levels) if plan is None else stated(levels, plan),
        left_out=() if plan is None else left_out_of(search.full, plan),
        trace=tuple(search.trace),
        wall_time_s=search.elapsed_s,
        seed=search.options.seed,
        starts=search.starts,
        statistics={
            **search.model_size,
            "candidates_in_force": search.problem.num_candidates,
            "refuted": len(search.nogoods) - len(search.set_aside),
            "undecided": len(search.set_aside),
        },
    )


def plan_of(problem: Problem, assignments: Sequence[Assignment]) -> Plan:
    """Plan with the objective values it claims, assignments in the order of the instance."""
    of_job = {assignment.job: assignment for assignment in assignments}
    in_order = (of_job.get(options.job.name) for options in problem.options)
    objectives: dict[str, float] = {
        each.name: OBJECTIVES[each.name].value(problem, assignments) for each in problem.instance.objectives
    }
    return Plan(
        instance=problem.instance.name,
        assignments=tuple([assignment for assignment in in_order if assignment is not None]),
        objectives=objectives,
        switches=plugin_of(problem.cluster.fabric).switch_setting(problem.instance, assignments),
    )
