"""Result of a heuristic: a plan, and no claim beyond it."""

import time
from collections.abc import Sequence

from planner.cpsat.left_out import left_out_of
from planner.cpsat.solve import plan_of
from planner.fabrics.problem import Problem
from planner.model.plan import Assignment
from planner.model.result import Incumbent, Level, Result, SolveOptions, Status


def heuristic_result(
    policy: str, problem: Problem, options: SolveOptions, started: float, assignments: Sequence[Assignment] | None
) -> Result:
    """Levels with values and no bounds; NO_PLAN where a job that must run found no place."""
    if assignments is None:
        return Result(Status.NO_PLAN, policy, wall_time_s=time.perf_counter() - started, seed=options.seed)
    plan = plan_of(problem, assignments)
    levels = tuple(Level(name, value, None, None, Status.FEASIBLE) for name, value in plan.objectives.items())
    seconds = time.perf_counter() - started
    first = Incumbent(seconds, levels[0].objective, levels[0].value, None, policy)
    if options.on_incumbent is not None:
        options.on_incumbent(first)
    return Result(
        Status.FEASIBLE,
        policy,
        plan=plan,
        levels=levels,
        left_out=left_out_of(problem, plan),
        trace=(first,),
        wall_time_s=seconds,
        seed=options.seed,
    )
