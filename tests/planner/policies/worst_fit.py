"""Worst fit: each job where the most room is left, so that servers stay evenly used."""

import time
from collections.abc import Iterator

from planner import api


def most_room_first(free: api.FreeState, demand: api.Demand) -> Iterator[api.Blocks]:
    """Ways to spread a job over servers, the best first: here one for each rack."""
    for servers in api.racks(free):
        order = sorted(servers, key=lambda server: -api.free_blocks(free, demand, server))
        blocks = api.fill(free, demand, order)
        if blocks is not None:
            yield sorted(blocks)


def worst_fit(problem: api.Problem, options: api.SolveOptions) -> api.Result:
    """Jobs in the order of the file, each with its most valuable candidate that fits."""
    started = time.perf_counter()
    assignments = api.place_all(problem, most_room_first)
    return api.heuristic_result("worst_fit", problem, options, started, assignments)
