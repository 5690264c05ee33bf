"""Running jobs: when each ends, what it has done, and what is left of those that were stopped."""

from bisect import bisect_left
from dataclasses import dataclass
from math import inf

from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement
from planner.simulate.log import Log


@dataclass(frozen=True)
class Jobs:
    """Demand of one replay, lists by number of the job in the order of arrival."""

    arrival_s: list[float]
    work_s: list[float]
    """duration on the reference"""
    kind: list[JobClass]
    group: list[int]
    """number of its kind and priority"""
    priority: list[int]
    group_size: list[int]
    """accelerators that a job takes, by group"""

    def __len__(self) -> int:
        return len(self.arrival_s)


@dataclass(slots=True)
class Run:
    """A running job."""

    job: int
    kind: JobClass
    placement: Placement
    begin_s: float = 0.0
    """when it began, or will begin after a pause, to work"""
    work_s: float = 0.0
    """reference seconds left at `begin_s`"""
    end_s: float = inf
    placed_s: float = 0.0
    """since when it holds its placement; until `begin_s` it pauses"""


class Runs:
    """All running jobs of one replay; the state is told of what starts and stops elsewhere."""

    def __init__(self, jobs: Jobs, log: Log, checkpoint_s: float = 0.0) -> None:
        """`checkpoint_s`: time between checkpoints of a run; 0: what was done is never lost."""
        self.jobs, self.log, self._checkpoint_s = jobs, log, checkpoint_s
        self.running: dict[int, Run] = {}
        self.busy = 0
        """accelerators held"""
        self.left_s = [*jobs.work_s]
        """reference seconds that each job needs, if it waits"""
        self.stopped = set[int]()
        """jobs that wait after they were stopped: they pause before they go on"""
        self._ends: list[tuple[float, int]] = []
        """(end, job) of all running jobs, ascending"""
        self.by_end: list[Run] = []
        """the same jobs"""

    @property
    def next_end_s(self) -> float:
        """When the next job ends, inf for never."""
        return self._ends[0][0] if self._ends else inf

    def next_run(self) -> Run:
        """The job that ends next."""
        return self.by_end[0]

    def pause_s(self, job: int, downtime_s: float) -> float:
        """How long a waiting job pauses before it works."""
        return downtime_s if job in self.stopped else 0.0

    def start(self, job: int, placement: Placement, now_s: float, downtime_s: float) -> None:
        """A waiting job runs on a placement that is taken; one that was stopped before pauses first."""
        is_back, pause_s = job in self.stopped, self.pause_s(job, downtime_s)
        run = Run(job, self.jobs.kind[job], placement, work_s=self.left_s[job])
        if is_back:
            self.stopped.remove(job)
        else:
            self.log.start_s[job] = now_s
        self.running[job] = run
        self.busy += len(placement.held)
        self._go_on(run, now_s, pause_s)
        if is_back:
            self._restarted()

    def move(self, run: Run, placement: Placement, now_s: float, downtime_s: float) -> None:
        """A run pauses and goes on elsewhere."""
        self._account(run, now_s)
        self.busy += len(placement.held) - len(run.placement.held)
        run.placement = placement
        self.log.moves += 1
        self._go_on(run, now_s, downtime_s)
        self._restarted()

    def keep(self, run: Run, working: Placement) -> None:
        """A run holds what works of its placement."""
        self.busy += len(working.held) - len(run.placement.held)
        run.placement = working

    def finish(self, run: Run, now_s: float, state: FreeState) -> None:
        """A run has done its work."""
        self._remove(run, now_s, state)
        self.log.finish_s[run.job] = now_s

    def interrupt(self, run: Run, now_s: float, state: FreeState) -> None:
        """A run stops; what it has done is kept up to its last checkpoint."""
        ran_s = max(0.0, now_s - run.begin_s)
        self._remove(run, now_s, state, ran_s % self._checkpoint_s if self._checkpoint_s else 0.0)
        self.left_s[run.job] = run.work_s
        self.stopped.add(run.job)
        self.log.interruptions += 1

    def _remove(self, run: Run, now_s: float, state: FreeState, lost_s: float = 0.0) -> None:
        self._account(run, now_s, lost_s)
        del self.running[run.job]
        self.busy -= len(run.placement.held)
        state.release(run.placement)

    def _restarted(self) -> None:
        if self.log.faults is not None:
            self.log.faults.restarts += 1

    def _go_on(self, run: Run, now_s: float, pause_s: float) -> None:
        run.placed_s, run.begin_s = now_s, now_s + pause_s
        run.end_s = run.begin_s + run.work_s / run.placement.row.rate
        self.log.reconfigurations += run.placement.row.sets_circuits
        place = bisect_left(self._ends, (run.end_s, run.job))
        self._ends.insert(place, (run.end_s, run.job))
        self.by_end.insert(place, run)

    def _account(self, run: Run, now_s: float, lost_s: float = 0.0) -> None:
        """A run stops, or pauses, now: what it did counts, but for the last `lost_s`."""
        place = bisect_left(self._ends, (run.end_s, run.job))
        del self._ends[place], self.by_end[place]
        row, kept_s, held = run.placement.row, now_s - lost_s, len(run.placement.held)
        self.log.worked(run.begin_s, kept_s, run.kind.size, row.rate, row.energy_j_per_s)
        run.work_s = max(0.0, run.work_s - max(0.0, kept_s - run.begin_s) * row.rate)
        if lost_s:
            self.log.lost(kept_s, now_s, row.rate * row.energy_j_per_s, held)
        if self.log.faults is not None:
            self.log.faults.waste(run.placed_s, min(now_s, run.begin_s), held)
