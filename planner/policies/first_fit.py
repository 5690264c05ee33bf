"""First fit: each job on the first servers with room."""

import time

from planner.fabrics.problem import Problem
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import in_order
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result


def first_fit(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order, each with its most valuable candidate that fits on the first free devices."""
    started = time.perf_counter()
    return heuristic_result("first_fit", problem, options, started, place_all(problem, in_order, clock=options.clock()))
