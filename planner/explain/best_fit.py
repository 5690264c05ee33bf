"""What best fit would run on the same instance, where that costs next to nothing."""

import time
from collections.abc import Callable

from planner.fabrics.problem import Problem
from planner.model.plan import Plan
from planner.model.result import Result
from planner.pipeline import solve

SHARE, LEAST_S = 0.05, 1.0
"""of the time that a solve took, and seconds, that best fit may take beside it"""


def by_best_fit(problem: Problem, result: Result, should_stop: Callable[[], bool] = bool) -> Plan | None:
    """The plan of best fit; None where it takes too long, as to place tensors anew does, is stopped, finds none, or is
    what was asked for."""
    if result.plan is None or result.policy == "best_fit" or problem.instance.placed_steps or should_stop():
        return None
    limit_s = max(SHARE * result.wall_time_s, LEAST_S)
    started = time.perf_counter()
    found = solve(problem, policy="best_fit", time_limit_s=limit_s, should_stop=should_stop)
    return found.plan if time.perf_counter() - started < limit_s and not should_stop() else None
