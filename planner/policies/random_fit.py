"""A floor for comparisons: anywhere that fits."""

import random
import time

from planner.fabrics.problem import Problem
from planner.heuristics.greedy import place_all
from planner.heuristics.strategies import shuffled
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result


def random_fit(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order, each with its most valuable candidate that fits on servers in random order."""
    started = time.perf_counter()
    strategy = shuffled(random.Random(options.seed))
    return heuristic_result(
        "random_fit", problem, options, started, place_all(problem, strategy, clock=options.clock())
    )
