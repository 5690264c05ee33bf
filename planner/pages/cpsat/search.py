"""The best placement and bound known so far, while several ways of searching tell of what they find."""

import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from planner.model.result import Incumbent, SolveOptions, relative_gap
from planner.pages.problem import PageProblem, Pages
from planner.pages.result import OBJECTIVE, PROVEN

CHANGES_PER_UNIT = 5000
"""random changes of a placement for each unit of a deterministic limit"""


@dataclass
class Search:
    """`job_bounds_s`: of each job's step alone, weighted; their sum is a bound as well."""

    problem: PageProblem
    options: SolveOptions
    job_bounds_s: list[float]
    started: float = field(default_factory=time.perf_counter)
    best: list[Pages] | None = None
    value_s: float = float("inf")
    bound_s: float = 0.0
    is_crowded: bool = False
    """whether a better placement of one job was found that does not fit beside the others"""
    trace: list[Incumbent] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.generator = random.Random(self.options.seed)
        self._lock = threading.RLock()
        self.bound_s = sum(self.job_bounds_s)

    def offer(self, placed: Sequence[Pages], source: str) -> None:
        """A placement that fits; its time is the simulated one."""
        value_s = self.problem.value_s(placed)
        with self._lock:
            if value_s < self.value_s:
                self.best, self.value_s = list(placed), value_s
                self._tell(source)

    def offer_jobs(self, numbers: Sequence[int], placed: Sequence[Pages], source: str) -> None:
        """Placements of some jobs, beside the best known ones of the others."""
        with self._lock:
            if self.best is None:
                self.offer(placed, source)
                return
            tried = list(self.best)
            for number, pages in zip(numbers, placed, strict=True):
                tried[number] = pages
            if self.problem.fits(tried):
                self.offer(tried, source)
            else:
                self.is_crowded = True

    def raise_bound(self, bound_s: float, numbers: Sequence[int] | None = None) -> None:
        """On the weighted time, or on that of some jobs; no higher than what is known to be possible, as the rest is
        rounding."""
        with self._lock:
            if numbers is not None and len(numbers) == 1:
                self.job_bounds_s[numbers[0]] = max(self.job_bounds_s[numbers[0]], bound_s)
                bound_s = sum(self.job_bounds_s)
            if bound_s > self.bound_s:
                self.bound_s = min(bound_s, self.value_s)
                self._tell("bound")

    def longest_s(self, number: int) -> float:
        """Of a job's step, in any placement that is no worse than the best one."""
        others_s = sum(self.job_bounds_s) - self.job_bounds_s[number]
        return (self.value_s - others_s) / self.problem.tasks[number].weight

    @property
    def is_deterministic(self) -> bool:
        return self.options.deterministic_limit is not None

    def at(self, share: float) -> float:
        """When a share of the time limit has passed, on the clock of `time.perf_counter`."""
        return float("inf") if self.is_deterministic else self.started + share * self.options.time_limit_s

    @property
    def ends_s(self) -> float:
        return self.at(1.0)

    @property
    def left_s(self) -> float:
        return self.ends_s - time.perf_counter()

    @property
    def is_proven(self) -> bool:
        gap = relative_gap(self.value_s, self.bound_s)
        return self.best is not None and gap is not None and gap <= PROVEN

    @property
    def is_done(self) -> bool:
        return self.is_proven or self.options.should_stop()

    def _tell(self, source: str) -> None:
        value_s = self.value_s if self.best is not None else None
        event = Incumbent(time.perf_counter() - self.started, OBJECTIVE, value_s, self.bound_s, source)
        self.trace.append(event)
        if self.options.on_incumbent is not None:
            self.options.on_incumbent(event)
