"""Worst fit: each job where the most room is left, so that servers stay evenly used."""

import time
from collections.abc import Iterator, Sequence

from planner import api


def most_room_first(room: Sequence[int], servers: Sequence[int], blocks: int, most: int) -> Iterator[api.Blocks]:
    """Ways to spread the blocks of a job over servers that it may use together, the best first: here one."""
    order = sorted(servers, key=lambda server: -room[server])
    for spread in api.in_order(room, order, blocks, most):
        yield sorted(spread)


def worst_fit(problem: api.Problem, options: api.SolveOptions) -> api.Result:
    """Jobs in the order of the file, each with its most valuable candidate that fits."""
    started = time.perf_counter()
    assignments = api.place_all(problem, most_room_first)
    return api.heuristic_result("worst_fit", problem, options, started, assignments)
