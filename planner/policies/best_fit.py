"""Leave as little room behind as possible."""

import time

from planner.fabrics.problem import Problem
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import tightest
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result


def best_fit(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order, each with its most valuable candidate that fits, where the least room is left over."""
    started = time.perf_counter()
    return heuristic_result("best_fit", problem, options, started, place_all(problem, tightest, clock=options.clock()))
