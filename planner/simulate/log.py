"""Record of one replay: times of every job, and integrals over the time that counts."""

import time
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf, nan

from planner.simulate.fault_ledger import FaultLedger

HOUR_S = 3600.0
BINS = 240
"""stretches of equal length of the time that counts, for what is drawn over time"""


@dataclass
class Log:
    """Counts and integrals from `begin_s` to `end_s`; job times by number of the job, nan where there is none."""

    jobs: int
    begin_s: float
    end_s: float
    start_s: list[float] = field(init=False)
    """when each job first ran"""
    finish_s: list[float] = field(init=False)
    busy_s: float = 0.0
    """accelerator-seconds held"""
    useful_s: float = 0.0
    """accelerator-seconds of the reference whose work was done"""
    energy_j: float = 0.0
    free_s: float = 0.0
    """accelerator-seconds free"""
    stranded_s: float = 0.0
    """those while some waiting job asked for no more than were free"""
    waiting_s: float = 0.0
    """job-seconds in the queue"""
    reconfigurations: int = 0
    """starts and moves of jobs that set circuits"""
    moves: int = 0
    """running jobs that were placed elsewhere"""
    interruptions: int = 0
    """running jobs that lost a part to a failure"""
    never_fit: int = 0
    """jobs that the policy cannot place on the empty cluster"""
    fragmentation: list[float] = field(default_factory=list)
    looking_s: float = 0.0
    """processor time spent on `fragmentation`, which is no decision"""
    events: int = 0
    latency_s: "array[float]" = field(default_factory=lambda: array("d"))
    """wall time of all decisions of each event"""
    marks: list[tuple[float, float, float]] = field(default_factory=list)
    """busy_s, waiting_s and stranded_s at the end of each of BINS stretches"""
    faults: FaultLedger | None = None
    """what faults cost, where that is asked for"""
    _now_s: float = 0.0
    _mark_s: float = field(init=False)
    """when the next stretch ends"""

    def __post_init__(self) -> None:
        self._mark_s = self.mark_s(1) if self.end_s > self.begin_s else inf
        self.start_s = [nan] * self.jobs
        self.finish_s = [nan] * self.jobs

    def advance(self, now_s: float, busy: int, free: int, waiting: int, smallest: int) -> None:
        """Time goes on to `now_s` with these counts since the last event; `smallest` job that waits, 0 for none."""
        if now_s >= self._mark_s:
            self._mark(now_s, busy, free, waiting, smallest)
        passed_s = min(now_s, self.end_s) - max(self._now_s, self.begin_s)
        self._now_s = now_s
        if passed_s > 0:
            self.busy_s += busy * passed_s
            self.free_s += free * passed_s
            self.waiting_s += waiting * passed_s
            if 0 < smallest <= free:
                self.stranded_s += free * passed_s

    def mark_s(self, number: int) -> float:
        """When so many stretches have passed."""
        return self.end_s if number == BINS else self.begin_s + (self.end_s - self.begin_s) * number / BINS

    def _mark(self, now_s: float, busy: int, free: int, waiting: int, smallest: int) -> None:
        """Note the integrals at the end of every stretch up to now; counts are those since the last event."""
        since_s = max(self._now_s, self.begin_s)
        stranded = free if 0 < smallest <= free else 0
        while now_s >= self._mark_s:
            passed_s = self._mark_s - since_s
            integrals = (self.busy_s, busy), (self.waiting_s, waiting), (self.stranded_s, stranded)
            busy_s, waiting_s, stranded_s = (total + count * passed_s for total, count in integrals)
            self.marks.append((busy_s, waiting_s, stranded_s))
            self._mark_s = self.mark_s(len(self.marks) + 1) if len(self.marks) < BINS else inf

    def worked(self, begin_s: float, now_s: float, size: int, rate: float, energy_j_per_s: float) -> None:
        """A job of `size` asked accelerators did `rate` reference seconds of work in each second."""
        passed_s = min(now_s, self.end_s) - max(begin_s, self.begin_s)
        if passed_s > 0:
            self.useful_s += passed_s * rate * size
            self.energy_j += passed_s * rate * energy_j_per_s

    def lost(self, since_s: float, now_s: float, run_energy_j_per_s: float, held: int) -> None:
        """Work of so many held accelerators was done in vain; its energy is spent all the same."""
        self.worked(since_s, now_s, 0, 1.0, run_energy_j_per_s)
        if self.faults is not None:
            self.faults.waste(since_s, now_s, held)

    def timed(self, decide: Callable[[], None]) -> None:
        """Run the decisions of an event and note how long they took."""
        started = time.perf_counter()
        decide()
        self.latency_s.append(time.perf_counter() - started)
        self.events += 1
