"""The price of an accelerator at which all jobs together want as many as there are: one row of the knapsack relaxation.

A Lagrangian of one multiplier: it is what the linear relaxation of the multiple-choice knapsack over accelerators says,
found by bisection over all rows at once. Where racks are joined, links between racks have a price, too.
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
LINK_HALVINGS = 16
"""fewer for links: any prices give a bound, and accelerators have another price for each one of links"""


@dataclass(frozen=True)
class DevicePrice:
    """Price of one accelerator, the bound on the value of any plan that it gives, and one for each row of each job."""

    price: float
    link_price: float
    """of a link between racks; 0 where these suffice for all"""
    bound: float
    _problem: Problem
    _best: list[float]
    """value less price of each job's best row"""

    @classmethod
    def of(cls, problem: Problem) -> "DevicePrice":
        r"""Least of $\lambda N + \mu L + \sum_j \max_k (v_{jk} - \lambda n_{jk} - \mu l_{jk})$ over prices of the N
        healthy devices and L links, which is found for one price of links after the other; found once of a problem."""
        if cls not in problem.relaxations:
            problem.relaxations[cls] = cls._of(problem)
        return cast(DevicePrice, problem.relaxations[cls])

    @classmethod
    def _of(cls, problem: Problem) -> "DevicePrice":
        table, capacity = _Table(problem), problem.cluster.num_healthy
        links = sum(sum(each.values()) for each in problem.cluster.upper_links.values())
        price, link_price = table.clearing_prices(capacity, links)
        best = table.best(price, link_price).tolist()
        return cls(price, link_price, price * capacity + link_price * links + fsum(best), problem, best)

    def cost(self, options: JobOptions) -> Floats:
        """Price of what each row takes, shape (C,)."""
        cost = np.asarray(self.price * options.candidates.num_devices, np.float64)
        return cost + self.link_price * options.links if self.link_price else cost

    @cached_property
    def rows(self) -> tuple[Floats, ...]:
        """(C_j,) for each job: no plan that uses the row has more value."""
        bounds = []
        for options, most in zip(self._problem.options, self._best, strict=True):
            reduced = options.value - self.cost(options)
            bounds.append(self.bound - most + reduced if np.isfinite(most) else reduced - np.inf)
        return tuple(bounds)


class _Table:
    """Most value of each kind of job on each of its sizes, and numbers of links, below each other; each kind begins
    with a row that stands for waiting. Jobs of one kind have the same candidates of the same values."""

    def __init__(self, problem: Problem) -> None:
        by_size, kinds = _BySize(), dict[tuple[int, float], int]()
        values, devices, links, starts = list[float](), list[int](), list[int](), list[int]()
        self._kind = np.zeros(len(problem.options), np.int64)
        for j, options in enumerate(problem.options):
            waiting = _waiting(options)
            kind = self._kind[j] = kinds.setdefault((id(options.value), waiting), len(kinds))
            if kind == len(starts):
                sizes, held, most = by_size.most(options)
                starts.append(len(values))
                values += [waiting, *most]
                devices += [0, *sizes]
                links += [0, *held]
        self._starts, self._jobs = np.array(starts), np.bincount(self._kind)
        self._length = np.diff([*starts, len(values)])
        self.value, self.devices = np.array(values, np.float64), np.array(devices, np.float64)
        self.links = np.array(links, np.float64)

    def clearing_prices(self, capacity: int, links: int) -> tuple[float, float]:
        """Prices of a device and of a link at which the best rows of all jobs fit, within rounding, into so many."""
        price = self._clearing_price(capacity, self.value)
        if self._wanted(self.value - price * self.devices, self.links) <= links:
            return price, 0.0
        held = self.links > 0
        low, high = 0.0, float((self.value[held] / self.links[held]).max())
        for _ in range(LINK_HALVINGS):
            link_price = (low + high) / 2
            value = self.value - link_price * self.links
            price = self._clearing_price(capacity, value)
            is_short = self._wanted(value - price * self.devices, self.links) > links
            low, high = (link_price, high) if is_short else (low, link_price)
        return self._clearing_price(capacity, self.value - high * self.links), high

    def _clearing_price(self, capacity: int, value: Floats) -> float:
        """The smallest price, within rounding, at which the best rows of all jobs fit into so many devices."""
        if self._wanted(value, self.devices) <= capacity:
            return 0.0
        real = self.devices > 0
        low, high = 0.0, float((value[real] / self.devices[real]).max(initial=0.0))
        for _ in range(HALVINGS):
            price = (low + high) / 2
            is_short = self._wanted(value - price * self.devices, self.devices) > capacity
            low, high = (price, high) if is_short else (low, price)
        return high

    def best(self, price: float, link_price: float) -> Floats:
        """Value less price of each job's best row, shape (J,)."""
        return self._best(self.value - price * self.devices - link_price * self.links)[self._kind]

    def _best(self, reduced: Floats) -> Floats:
        """The best row of each kind."""
        return np.asarray(np.maximum.reduceat(reduced, self._starts))

    def _wanted(self, reduced: Floats, amount: Floats) -> float:
        """The least of an amount that the best rows of all jobs take that can run or wait."""
        best = self._best(reduced)
        fewest = np.where(reduced >= np.repeat(best, self._length), amount, np.inf)
        of_kind, counts = np.minimum.reduceat(fewest, self._starts), np.isfinite(best)
        return float((of_kind * self._jobs)[counts].sum())


class _BySize:
    """Most value on each size and number of links; jobs with the same candidates share how these lie."""

    def __init__(self) -> None:
        self._order: dict[int, tuple[list[int], list[int], NDArray[np.int64], NDArray[np.int64]]] = {}

    def most(self, options: JobOptions) -> tuple[list[int], list[int], list[float]]:
        """Sizes, ascending, the links beside each, and the most value of both."""
        if not len(options):
            return [], [], []
        if id(options.candidates) not in self._order:
            self._order[id(options.candidates)] = self._laid(options)
        sizes, links, order, starts = self._order[id(options.candidates)]
        return sizes, links, np.maximum.reduceat(options.value[order], starts).tolist()

    def _laid(self, options: JobOptions) -> tuple[list[int], list[int], NDArray[np.int64], NDArray[np.int64]]:
        devices, links = options.candidates.num_devices, options.links
        order = np.lexsort((links, devices))
        is_new = np.concatenate([[True], (np.diff(devices[order]) != 0) | (np.diff(links[order]) != 0)])
        starts = np.flatnonzero(is_new)
        return devices[order[starts]].tolist(), links[order[starts]].tolist(), order, starts


def _waiting(options: JobOptions) -> float:
    """Value of a job that takes no devices."""
    if not options.is_bounded:
        return options.most_value
    return -np.inf if options.must_run else 0.0
