"""Leave as little room behind as possible."""

import time

from planner.heuristics.greedy import place_all, tightest
from planner.policies.heuristic import heuristic_result
from planner.problem import Problem
from planner.result import Result, SolveOptions


def best_fit(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order, each with its most valuable candidate that fits, where the least room is left over."""
    started = time.perf_counter()
    return heuristic_result("best_fit", problem, options, started, place_all(problem, tightest, clock=options.clock()))
