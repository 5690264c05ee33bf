"""A floor for comparisons: anywhere that fits."""

import random
import time
from collections.abc import Iterator

from planner.fabrics.demand import Demand
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import Problem
from planner.heuristics.greedy import Blocks, fill, place_all, racks
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result


def random_fit(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in arrival order, each with its most valuable candidate that fits on servers in random order."""
    started = time.perf_counter()
    generator = random.Random(options.seed)

    def shuffled(board: FreeState, shape: Demand) -> Iterator[Blocks]:
        for servers in racks(board):
            found = fill(board, shape, generator.sample(servers, len(servers)))
            if found is not None:
                yield found

    assignments = place_all(problem, shuffled, clock=options.clock())
    return heuristic_result("random_fit", problem, options, started, assignments)
