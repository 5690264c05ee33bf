"""The price of an accelerator at which all jobs together want as many as there are: one row of the knapsack relaxation.

A Lagrangian of one multiplier: it is what the linear relaxation of the multiple-choice knapsack over accelerators says,
found by bisection over all rows at once.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.problem import Problem

Floats = NDArray[np.float64]
HALVINGS = 40


@dataclass(frozen=True)
class DevicePrice:
    """Price of one accelerator, the bound on the value of any plan that it gives, and one for each row of each job."""

    price: float
    bound: float
    rows: tuple[Floats, ...]
    """(C_j,) for each job: no plan that uses the row has more value"""

    @classmethod
    def of(cls, problem: Problem) -> "DevicePrice":
        r"""Least of $\lambda N + \sum_j \max_k (v_{jk} - \lambda n_{jk})$ over prices of the N healthy devices."""
        table = _Table(problem)
        price = table.clearing_price(problem.cluster.num_healthy)
        best, slack = table.relaxed(price)
        bound = price * problem.cluster.num_healthy + float(best.sum())
        return cls(price, bound, table.split(bound - slack))


class _Table:
    """Rows of all jobs below each other; each job begins with a row that stands for waiting."""

    def __init__(self, problem: Problem) -> None:
        sizes = [len(options) + 1 for options in problem.options]
        self._starts = np.cumsum([0, *sizes])
        self._sizes = np.array(sizes)
        self.value, self.devices = np.zeros(sum(sizes)), np.zeros(sum(sizes))
        for start, options in zip(self._starts.tolist(), problem.options, strict=False):
            rows = slice(start + 1, start + 1 + len(options))
            self.value[rows], self.devices[rows] = options.value, options.candidates.num_devices
            if not options.is_listed:
                self.value[start] = options.most_value
            elif options.must_run:
                self.value[start] = -np.inf

    def clearing_price(self, capacity: int) -> float:
        """The smallest price, within rounding, at which the best rows of all jobs fit into so many devices."""
        real = self.devices > 0
        low, high = 0.0, float((self.value[real] / self.devices[real]).max(initial=0.0))
        for _ in range(HALVINGS):
            price = (low + high) / 2
            best, slack = self.relaxed(price)
            wanted = np.minimum.reduceat(np.where(slack <= 0, self.devices, np.inf), self._starts[:-1])
            low, high = (price, high) if wanted[np.isfinite(best)].sum() > capacity else (low, price)
        return high

    def relaxed(self, price: float) -> tuple[Floats, Floats]:
        """Value less price of each job's best row, shape (J,), and how far each row is below it."""
        reduced = self.value - price * self.devices
        best = np.maximum.reduceat(reduced, self._starts[:-1])
        of_job = np.repeat(best, self._sizes)
        return best, np.subtract(of_job, reduced, out=np.zeros_like(reduced), where=np.isfinite(of_job))

    def split(self, column: Floats) -> tuple[Floats, ...]:
        """Rows of each job, waiting left out."""
        return tuple(column[a + 1 : b] for a, b in zip(self._starts[:-1], self._starts[1:], strict=True))
