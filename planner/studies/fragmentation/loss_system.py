"""A loss system, event by event: jobs arrive, are given a slice or turned away at once, and leave."""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray

from planner.slices.allocator import Allocator, Slice
from planner.studies.fragmentation.kaufman_roberts import job_rates

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
MEASURES = ("jobs admitted", "GPU-weighted", "utilization")
"""columns of `measure`: shares of jobs, of accelerators asked for, and of accelerators busy with what was asked for"""


@dataclass(frozen=True)
class Traffic:
    """Jobs in the order of their arrival, arrays of shape (jobs,); times in mean holding times."""

    arrival: Floats
    size: Ints
    """accelerators asked for"""
    holding: Floats


def draw_traffic(
    sizes: Sequence[int], weights: Sequence[float], load: float, capacity: int, jobs: int, seed: int
) -> Traffic:
    """Poisson arrivals and exponential holding times; the same for every allocator of a seed."""
    rates = job_rates(sizes, weights, load, capacity)
    generator = np.random.default_rng(seed)
    return Traffic(
        arrival=np.cumsum(generator.exponential(1 / rates.sum(), jobs)),
        size=generator.choice(np.asarray(sizes, dtype=np.int64), jobs, p=rates / rates.sum()),
        holding=generator.exponential(1.0, jobs),
    )


def admit(allocator: Allocator, traffic: Traffic) -> Bools:
    """Which jobs are given a slice, from an empty cluster on; shape (jobs,)."""
    running: list[tuple[float, int, Slice]] = []
    admitted = bytearray(len(traffic.arrival))
    next_end = np.inf
    jobs = zip(traffic.arrival.tolist(), traffic.size.tolist(), traffic.holding.tolist(), strict=True)
    for number, (now, size, holding) in enumerate(jobs):
        while next_end <= now:
            allocator.release(heappop(running)[2])
            next_end = running[0][0] if running else np.inf
        slice_ = allocator.allocate(size)
        if slice_ is not None:
            admitted[number] = 1
            heappush(running, (now + holding, number, slice_))
            next_end = running[0][0]
    return np.frombuffer(bytes(admitted), dtype=np.bool_)


def measure(traffic: Traffic, admitted: Bools, capacity: int, warm_up: float) -> Floats:
    """MEASURES from `warm_up` holding times on until the last arrival, shape (3,)."""
    begin, end = warm_up, float(traffic.arrival[-1])
    counts = traffic.arrival >= begin
    if not counts.any():
        raise ValueError(f"warm_up: no job arrives after {warm_up:g} holding times; simulate more jobs")
    asked = traffic.size[counts]
    leave = np.minimum(traffic.arrival + traffic.holding, end)
    busy = np.maximum(leave - np.maximum(traffic.arrival, begin), 0.0) * traffic.size
    return np.array(
        [
            admitted[counts].mean(),
            asked[admitted[counts]].sum() / asked.sum(),
            busy[admitted].sum() / (capacity * (end - begin)) if end > begin else 0.0,
        ]
    )
