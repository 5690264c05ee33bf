"""Whole servers plus a remainder: what electrical clusters do."""

import time

from planner.fabrics.problem import Problem
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import aligned
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result


def server_aligned(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order on entirely free servers, the remainder on the tightest server that takes it whole.

    A job that asks for so many accelerators of each server takes servers with as many free.
    """
    started = time.perf_counter()
    assignments = place_all(problem, aligned, clock=options.clock())
    return heuristic_result("server_aligned", problem, options, started, assignments)
