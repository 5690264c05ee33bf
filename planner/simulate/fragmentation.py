"""The fragmentation objective of what is free at one time of a replay, by pairing first and by a short search after."""

from collections.abc import Callable, Mapping, Sequence

from planner.cpsat.step1.objectives.fitting import jobs_that_fit
from planner.fabrics.free_state import FreeState

SEARCH_LIMIT = 0.02
"""deterministic time of one search where pairing leaves a doubt: the value may then be too pessimistic"""


def fragmentation(state: FreeState, sizes_to_fit: Mapping[int, float]) -> float:
    """1 - sum over sizes of share x fit / floor(free / size), as the objective of that name."""
    fibers, free = state.dark_fibers(), list(state.lit)
    dark = fibers or {}
    lost = 0.0
    for size, share in sizes_to_fit.items():
        possible = sum(free) // size
        if size == 1 or not possible:
            continue
        most = paired(free, size, lambda a, b: fibers is None or (dark.get((a, b), 0) > 0 < dark.get((b, a), 0)))
        if most < possible:
            most = max(most, jobs_that_fit(state.cluster, size, free, dark, SEARCH_LIMIT))
        lost += share * (1 - most / possible)
    return lost


def paired(free: Sequence[int], size: int, may_span: Callable[[int, int], bool]) -> int:
    """Jobs of a size inside servers, and across pairs of servers of what these leave; a lower bound."""
    jobs = sum(devices // size for devices in free)
    left = [devices % size for devices in free]
    for server in sorted(range(len(free)), key=lambda s: (-left[s], s)):
        missing = size - left[server]
        others = [s for s, devices in enumerate(left) if s != server and devices >= missing and may_span(server, s)]
        if left[server] and others:
            best = min(others, key=lambda other: (left[other], other))
            left[server], left[best] = 0, left[best] - missing
            jobs += 1
    return jobs
