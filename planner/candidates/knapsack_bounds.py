"""Reduced-cost fixing by a multiple-choice knapsack over devices: candidates that can matter, a bound a row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from planner.candidates.device_price import DevicePrice
from planner.candidates.lagrangian_bounds import has_prices, pool_prices
from planner.fabrics import plugin_of
from planner.fabrics.problem import JobOptions, Problem

Floats = NDArray[np.float64]
SLACK = 1e-9
MOST_STATES = 5_000_000
"""jobs x devices up to which the knapsack is solved exactly"""


@dataclass(frozen=True)
class KnapsackBounds:
    """Upper bounds on the total value: of any plan, and of any plan that uses a given row.

    The relaxation keeps one configuration per job and the total of healthy devices: a multiple-choice knapsack,
    solved exactly by dynamic programming. Where memory is pooled, prices of all that is pooled give a second bound.
    A row whose bound is below the value of a known plan is in no better plan.
    """

    bound: float
    _rows: Callable[[], tuple[Floats, ...]]

    @cached_property
    def rows(self) -> tuple[Floats, ...]:
        """(C_j,) for each job."""
        return self._rows()

    @classmethod
    def of(cls, problem: Problem) -> "KnapsackBounds":
        """Bounds of a problem, found once."""
        if cls not in problem.relaxations:
            problem.relaxations[cls] = cls._of(problem)
        return cast(KnapsackBounds, problem.relaxations[cls])

    @classmethod
    def _of(cls, problem: Problem) -> "KnapsackBounds":
        """Best values of the jobs before and after each job, at every number of devices n = 0..N; where jobs times
        devices are too many for that, the linear relaxation, which at such sizes is as good."""
        capacity = problem.cluster.num_healthy
        if capacity * len(problem.options) > MOST_STATES:
            relaxed = DevicePrice.of(problem)
            return cls._with_prices(problem, relaxed.bound, lambda: relaxed.rows)
        best = [_best_by_devices(options, capacity) for options in problem.options]
        nothing = np.zeros(capacity + 1)
        before, after = [nothing], [nothing]
        for column in best:
            before.append(_combine(before[-1], column))
        for column in reversed(best):
            after.append(_combine(after[-1], column))
        after.reverse()
        rows = tuple(_row_bounds(options, before[j], after[j + 1]) for j, options in enumerate(problem.options))
        return cls._with_prices(problem, float(before[-1][-1]), lambda: rows)

    @classmethod
    def _with_prices(cls, problem: Problem, bound: float, rows: Callable[[], tuple[Floats, ...]]) -> "KnapsackBounds":
        """The bounds, or those by prices of all that is pooled and by what servers hold where these are tighter."""
        if not has_prices(problem) or not np.isfinite(bound):
            return cls(bound, rows)
        pooled = pool_prices(problem)
        found = [(pooled.bound, pooled.rows)]
        packed = plugin_of(problem.cluster.fabric).shared_amounts.packed(problem)
        if packed is not None:
            found.append(packed)
        unlisted = sum(options.most_value for options in problem.options if not options.is_bounded)
        others = zip(*(each for _, each in found), strict=True)
        least = tuple(
            np.minimum(one, np.min(other, axis=0) + unlisted) for one, other in zip(rows(), others, strict=True)
        )
        return cls(min(bound, *(each + unlisted for each, _ in found)), lambda: least)

    def highest(self, count: int) -> float:
        """A threshold that so many rows reach at most, but for ties."""
        bounds = np.sort(np.concatenate(self.rows))[::-1]
        return float(bounds[count]) if count < len(bounds) else float("-inf")

    def core(self, problem: Problem, threshold: float, keep: Sequence[int | None]) -> Problem:
        """Rows that some plan of value `threshold` or more may use; `keep[j]` names a row that stays anyway.

        A resident's current row stays too.
        """
        options = []
        for job, bounds, kept in zip(problem.options, self.rows, keep, strict=True):
            mask = bounds >= threshold - SLACK * max(1.0, abs(threshold))
            for row in (kept, job.current):
                if row is not None:
                    mask[row] = True
            options.append(job if mask.all() else job.take(np.flatnonzero(mask)))
        return replace(problem, options=tuple(options))


def _best_by_devices(options: JobOptions, capacity: int) -> Floats:
    """Most value of one job with exactly n devices, -inf where it has no such row; 0 devices where it may wait.

    A job that its candidates here do not bound may be worth its most with any number of devices, even none.
    """
    best = np.full(capacity + 1, -np.inf)
    devices = options.candidates.num_devices
    fits = devices <= capacity
    np.maximum.at(best, devices[fits], options.value[fits])
    if not options.must_run:
        best[0] = 0.0 if options.is_bounded else options.most_value
    return best


def _combine(left: Floats, right: Floats) -> Floats:
    """Most value of two sets of jobs with at most n devices together, shape (N + 1,)."""
    result = np.full(len(left), -np.inf)
    for devices in np.flatnonzero(np.isfinite(right)):
        moved = left[: len(left) - devices] + right[devices]
        np.maximum(result[devices:], moved, out=result[devices:])
    return np.maximum.accumulate(result)


def _row_bounds(options: JobOptions, before: Floats, after: Floats) -> Floats:
    """Value of each row plus the most that the jobs before and after it add on the devices it leaves."""
    sizes, of = np.unique(options.candidates.num_devices, return_inverse=True)
    left = len(before) - 1 - sizes
    most = [np.max(before[: n + 1] + after[: n + 1][::-1]) if n >= 0 else -np.inf for n in left.tolist()]
    return options.value + np.array(most)[of] if len(sizes) else np.zeros(0)
