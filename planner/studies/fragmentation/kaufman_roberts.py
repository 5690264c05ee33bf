"""Complete sharing without shapes, exactly: the recursion of Kaufman and Roberts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
LARGE = 1e200
"""values above are scaled down with all before them, so that big clusters do not overflow"""


@dataclass(frozen=True)
class Sharing:
    """A stationary loss system in which every free accelerator serves every job."""

    occupied: Floats
    """probability of j occupied accelerators, shape (capacity + 1,)"""
    admitted: Floats
    """share of the jobs of each size that find room, shape (sizes,)"""
    jobs: float
    """share of all jobs that are admitted"""
    weighted: float
    """share of the accelerators asked for by all jobs that are admitted"""
    utilization: float
    """mean share of the accelerators that are occupied"""


def kaufman_roberts(sizes: Sequence[int], weights: Sequence[float], load: float, capacity: int) -> Sharing:
    """Exact shares for Poisson arrivals of any holding time, first come, no queue.

    `weights` are relative arrival rates of the sizes; `load` is the mean number of accelerators asked for at once
    over the capacity. j g(j) = sum_s rate_s s g(j - s), g being proportional to the distribution (Kaufman 1981).
    """
    asked = np.asarray(sizes, dtype=np.int64)
    rate = job_rates(sizes, weights, load, capacity)
    g = np.zeros(capacity + 1)
    g[0] = 1.0
    for j in range(1, capacity + 1):
        fits = asked <= j
        g[j] = (rate[fits] * asked[fits]) @ g[j - asked[fits]] / j
        if g[j] > LARGE:
            g[: j + 1] /= g[j]
    g /= g.sum()
    below = np.concatenate([[0.0], np.cumsum(g)])
    admitted = below[np.maximum(capacity + 1 - asked, 0)]
    demand = rate * asked
    return Sharing(
        occupied=g,
        admitted=admitted,
        jobs=float(admitted @ rate / rate.sum()),
        weighted=float(admitted @ demand / demand.sum()),
        utilization=float(g @ np.arange(capacity + 1) / capacity),
    )


def job_rates(sizes: Sequence[int], weights: Sequence[float], load: float, capacity: int) -> Floats:
    """Arrivals of each size in one mean holding time, so that jobs ask for load x capacity accelerators at once."""
    asked, share = np.asarray(sizes, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if asked.shape != share.shape or not len(asked) or asked.min() < 1 or share.min() < 0 or share.sum() <= 0:
        raise ValueError("weights: give one weight >= 0 for each size >= 1, not all of them 0")
    if load <= 0 or capacity < 1:
        raise ValueError(f"load, capacity: must be positive, got {load} and {capacity}")
    return np.asarray(load * capacity * share / (share @ asked))
