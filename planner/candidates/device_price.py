"""The price of an accelerator at which all jobs together want as many as there are: one row of the knapsack relaxation.

A Lagrangian of one multiplier: it is what the linear relaxation of the multiple-choice knapsack over accelerators says,
found by bisection over all rows at once.
"""

from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import cast

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.problem import JobOptions, Problem

Floats = NDArray[np.float64]
HALVINGS = 40


@dataclass(frozen=True)
class DevicePrice:
    """Price of one accelerator, the bound on the value of any plan that it gives, and one for each row of each job."""

    price: float
    bound: float
    _problem: Problem
    _best: list[float]
    """value less price of each job's best row"""

    @classmethod
    def of(cls, problem: Problem) -> "DevicePrice":
        r"""Least of $\lambda N + \sum_j \max_k (v_{jk} - \lambda n_{jk})$ over prices of the N healthy devices; found
        once of a problem."""
        if cls not in problem.relaxations:
            problem.relaxations[cls] = cls._of(problem)
        return cast(DevicePrice, problem.relaxations[cls])

    @classmethod
    def _of(cls, problem: Problem) -> "DevicePrice":
        table, capacity = _Table(problem), problem.cluster.num_healthy
        price = table.clearing_price(capacity)
        best = table.best(price).tolist()
        return cls(price, price * capacity + fsum(best), problem, best)

    @cached_property
    def rows(self) -> tuple[Floats, ...]:
        """(C_j,) for each job: no plan that uses the row has more value."""
        bounds = []
        for options, most in zip(self._problem.options, self._best, strict=True):
            reduced = options.value - self.price * options.candidates.num_devices
            bounds.append(self.bound - most + reduced if np.isfinite(most) else reduced - np.inf)
        return tuple(bounds)


class _Table:
    """Most value of each kind of job on each of its sizes, below each other; each kind begins with a row that stands
    for waiting. Jobs of one kind have the same candidates of the same values."""

    def __init__(self, problem: Problem) -> None:
        by_size, kinds = _BySize(), dict[tuple[int, float], int]()
        values, devices, starts = list[float](), list[int](), list[int]()
        self._kind = np.zeros(len(problem.options), np.int64)
        for j, options in enumerate(problem.options):
            waiting = _waiting(options)
            kind = self._kind[j] = kinds.setdefault((id(options.value), waiting), len(kinds))
            if kind == len(starts):
                sizes, most = by_size.most(options)
                starts.append(len(values))
                values += [waiting, *most]
                devices += [0, *sizes]
        self._starts, self._jobs = np.array(starts), np.bincount(self._kind)
        self._length = np.diff([*starts, len(values)])
        self.value, self.devices = np.array(values, np.float64), np.array(devices, np.float64)

    def clearing_price(self, capacity: int) -> float:
        """The smallest price, within rounding, at which the best rows of all jobs fit into so many devices."""
        if self._wanted(0.0) <= capacity:
            return 0.0
        real = self.devices > 0
        low, high = 0.0, float((self.value[real] / self.devices[real]).max(initial=0.0))
        for _ in range(HALVINGS):
            price = (low + high) / 2
            low, high = (price, high) if self._wanted(price) > capacity else (low, price)
        return high

    def best(self, price: float) -> Floats:
        """Value less price of each job's best row, shape (J,)."""
        return self._best(self.value - price * self.devices)[self._kind]

    def _best(self, reduced: Floats) -> Floats:
        """The best row of each kind."""
        return np.asarray(np.maximum.reduceat(reduced, self._starts))

    def _wanted(self, price: float) -> float:
        """The fewest devices of the best rows of all jobs that can run or wait."""
        reduced = self.value - price * self.devices
        best = self._best(reduced)
        fewest = np.where(reduced >= np.repeat(best, self._length), self.devices, np.inf)
        of_kind, counts = np.minimum.reduceat(fewest, self._starts), np.isfinite(best)
        return float((of_kind * self._jobs)[counts].sum())


class _BySize:
    """Most value on each size; jobs with the same candidates share how these lie by size."""

    def __init__(self) -> None:
        self._order: dict[int, tuple[list[int], NDArray[np.int64], NDArray[np.int64]]] = {}

    def most(self, options: JobOptions) -> tuple[list[int], list[float]]:
        """Sizes, ascending, and the most value on each."""
        if not len(options):
            return [], []
        devices = options.candidates.num_devices
        if id(options.candidates) not in self._order:
            order = np.argsort(devices, kind="stable")
            distinct, starts = np.unique(devices[order], return_index=True)
            self._order[id(options.candidates)] = distinct.tolist(), order, starts
        sizes, order, starts = self._order[id(options.candidates)]
        return sizes, np.maximum.reduceat(options.value[order], starts).tolist()


def _waiting(options: JobOptions) -> float:
    """Value of a job that takes no devices."""
    if not options.is_bounded:
        return options.most_value
    return -np.inf if options.must_run else 0.0
