"""Durations of one job's step in whole ticks, rounded down so that what is proven of them holds for the step."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from planner.pages.problem import Task


@dataclass(frozen=True)
class Ticks:
    """Times of operators, collectives, tensors made again, and pages on links."""

    task: Task
    tick_s: float

    def of(self, seconds: float) -> int:
        return int(np.floor(seconds / self.tick_s))

    @cached_property
    def operator(self) -> list[int]:
        return [self.of(each) for each in self.task.program.operator_s.tolist()]

    @cached_property
    def exchange(self) -> list[int]:
        return [self.of(each) for each in self.task.program.exchange_s.tolist()]

    @cached_property
    def page(self) -> list[list[int]]:
        """Of one page of each absence on each link."""
        page_bytes = self.task.program.size_bytes / self.task.count
        rates = [link.bandwidth_bytes_per_s for link in self.task.links]
        return [[self.of(size / rate) for rate in rates] for size in page_bytes.tolist()]

    def whole(self, absence: int, link: int) -> int:
        """Of all pages of a tensor on one link."""
        return self.page[absence][link] * int(self.task.count[absence])

    @cached_property
    def before(self) -> list[int]:
        """Of all operators before each, and of all."""
        return [0, *np.cumsum(self.operator, dtype=np.int64).tolist()]

    def between(self, first: int, last: int) -> int:
        """Of operators from `first` up to `last`, without it."""
        return self.before[last] - self.before[first]

    @cached_property
    def horizon(self) -> int:
        """No step takes longer."""
        return self.of(serial_s(self.task)) + 1


def serial_s(task: Task) -> float:
    """Time of a step with everything one after the other, on the slowest links, and made again as well."""
    program = task.program
    slowest = min((link.bandwidth_bytes_per_s for link in task.links), default=np.inf)
    again_s = program.remake_s[np.isfinite(program.remake_s)].sum()
    copies_s = 2 * program.size_bytes.sum() / slowest
    return float(program.operator_s.sum() + program.exchange_s.sum() + again_s + copies_s)
