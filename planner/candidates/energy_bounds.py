"""Least energy of a plan that keeps a value: a Lagrangian bound, by a price of value and a price of accelerators.

The relaxation keeps one configuration per job, the total of healthy accelerators, and the value that was reached. Any
prices give a valid bound; the best ones are found by the ellipsoid method, which needs no step sizes.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.problem import JobOptions

Floats = NDArray[np.float64]
STEPS = 150
"""each leaves 0.77 of the area in which the best prices lie"""
MOST_PRICE = 64.0
"""prices of all value and of all accelerators that are looked at, over the energy of a known plan"""
MOST_ROWS = 300_000
"""candidates of all jobs beyond which the bound is not looked for"""
NOISE = 1e-9
"""relative, of sums in floating point"""


def least_energy(options: Sequence[JobOptions], devices: int, value: float, known: float) -> float | None:
    """No plan on so many accelerators that is worth `value` has less weighted energy; `known` is that of a plan.

    None where there are too many candidates, or the value asks for nothing.
    """
    if value <= 0 or devices <= 0 or sum(map(len, options)) > MOST_ROWS:
        return None
    table = _Table(options, devices, value * (1 - NOISE))
    center, shape, best = np.full(2, MOST_PRICE * known / 2), np.eye(2) * (MOST_PRICE * known) ** 2 / 2, 0.0
    for _ in range(STEPS):
        if (below := center < 0).any():
            uphill = np.where(below & (np.cumsum(below) == 1), 1.0, 0.0)
        else:
            bound, uphill = table.relax(*center.tolist())
            best = max(best, bound)
        length = max(float(uphill @ shape @ uphill), 0.0) ** 0.5
        if length <= NOISE * known:
            break
        along = shape @ uphill / length
        center = center + along / 3
        shape = (shape - np.outer(along, along) * 2 / 3) * 4 / 3
    return best * (1 - NOISE)


class _Table:
    """Rows of all jobs below each other, value and accelerators as shares; a job that may wait has one more row."""

    def __init__(self, options: Sequence[JobOptions], devices: int, value: float) -> None:
        energy, worth, used, starts, at = list[Floats](), list[Floats](), list[Floats](), list[int](), 0
        for job in options:
            waits = np.zeros(0 if job.must_run and len(job) else 1)
            free = waits if job.is_listed else waits + job.most_value
            energy += [job.energy, waits]
            worth += [job.value, free]
            used += [job.candidates.num_devices.astype(np.float64), waits]
            starts.append(at)
            at += len(job) + len(waits)
        self._energy = np.concatenate(energy)
        self._worth, self._used = np.concatenate(worth) / value, np.concatenate(used) / devices
        self._starts, self._of = np.array(starts), np.repeat(np.arange(len(starts)), np.diff([*starts, at]))

    def relax(self, of_value: float, of_devices: float) -> tuple[float, Floats]:
        """Bound at prices of all value and of all accelerators, and where it rises."""
        reduced = self._energy - of_value * self._worth + of_devices * self._used
        least = np.minimum.reduceat(reduced, self._starts)
        rows = np.flatnonzero(reduced <= least[self._of])
        chosen = rows[np.diff(self._of[rows], prepend=-1) > 0]
        uphill = np.array([1 - self._worth[chosen].sum(), self._used[chosen].sum() - 1])
        return float(of_value - of_devices + least.sum()), uphill
