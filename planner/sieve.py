"""Which candidates can still matter: bounds of the knapsack relaxation, one per row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from planner.problem import JobOptions, Problem

Floats = NDArray[np.float64]
SLACK = 1e-9


@dataclass(frozen=True)
class Sieve:
    """Upper bounds on the total value: of any plan, and of any plan that uses a given row.

    The relaxation keeps one configuration per job and the total of healthy devices, priced at `price` per device
    (Lagrange); the price is the best one, so `bound` is that of the linear relaxation of the multiple-choice
    knapsack. A row whose bound is below the value of a known plan is in no better plan.
    """

    bound: float
    price: float
    rows: tuple[Floats, ...]
    """(C_j,) for each job"""

    @classmethod
    def of(cls, problem: Problem) -> "Sieve":
        capacity = problem.cluster.num_healthy
        steepest = max(
            (float((o.value / o.candidates.num_devices).max(initial=0.0)) for o in problem.options), default=0.0
        )
        low, high = 0.0, steepest
        for _ in range(60):
            third = (high - low) / 3
            if _dual(problem, low + third, capacity) <= _dual(problem, high - third, capacity):
                high -= third
            else:
                low += third
        price = (low + high) / 2
        bound = _dual(problem, price, capacity)
        rows = tuple(bound - _best(o, price) + _reduced(o, price) for o in problem.options)
        return cls(bound, price, rows)

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
            options.append(job.take(np.flatnonzero(mask)))
        return replace(problem, options=tuple(options))


def _reduced(options: JobOptions, price: float) -> Floats:
    return np.asarray(options.value - price * options.candidates.num_devices)


def _best(options: JobOptions, price: float) -> float:
    """Most that a job adds at this price; a job that need not run adds at least nothing."""
    reduced = _reduced(options, price)
    if options.must_run and len(reduced):
        return float(reduced.max())
    return float(reduced.max(initial=0.0))


def _dual(problem: Problem, price: float, capacity: int) -> float:
    return price * capacity + sum(_best(options, price) for options in problem.options)
