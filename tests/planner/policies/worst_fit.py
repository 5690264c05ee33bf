"""Worst fit: each job where the most room is left, so that servers stay evenly used."""

import time
from collections.abc import Iterator

from planner.fabrics.demand import Demand
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import Problem
from planner.heuristics.greedy import Blocks, fill, free_blocks, place_all, racks
from planner.model.result import Result, SolveOptions
from planner.policies.heuristic import heuristic_result


def most_room_first(board: FreeState, shape: Demand) -> Iterator[Blocks]:
    """Ways to spread a job over servers, the best first: here one for each rack."""
    for servers in racks(board):
        order = sorted(servers, key=lambda server: -free_blocks(board, shape, server))
        blocks = fill(board, shape, order)
        if blocks is not None:
            yield sorted(blocks)


def worst_fit(problem: Problem, options: SolveOptions) -> Result:
    """Jobs in the order of the file, each with its most valuable candidate that fits."""
    started = time.perf_counter()
    assignments = place_all(problem, most_room_first)
    return heuristic_result("worst_fit", problem, options, started, assignments)
