"""Discrete-event simulation: arrivals, departures and failures in order of time, a policy places the jobs."""

from collections.abc import Callable, Iterable, Sequence
from math import inf

from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement
from planner.simulate.log import Log
from planner.simulate.outages import Outages
from planner.simulate.placer import Placer
from planner.simulate.queue import Queue
from planner.simulate.recovery import Moves, Recovery
from planner.simulate.reserve import Reservation, reserve
from planner.simulate.rules import Rules
from planner.simulate.runs import Jobs, Run, Runs

Rescue = Callable[[FreeState, JobClass, Iterable[Run]], tuple[Placement, Moves] | None]
"""A place, taken, for a job that finds none, and new ones, taken, for the runs that leave theirs; None where there is
none, and nothing is changed"""


class Simulation:
    """One policy on one cluster and one demand; parts of a model that is off are None."""

    def __init__(
        self,
        jobs: Jobs,
        placer: Callable[[FreeState], Placer],
        state: FreeState,
        rules: Rules,
        log: Log,
        *,
        outages: Outages | None = None,
        rescue: Rescue | None = None,
        recovery: Recovery | None = None,
        queue: Queue | None = None,
    ) -> None:
        self.jobs, self.rules, self.log = jobs, rules, log
        self.runs = Runs(jobs, log, rules.checkpoint_s)
        self.queue = queue or Queue(jobs.group, jobs.priority, jobs.group_size)
        self._make, self._outages, self._rescue = placer, outages, rescue
        self._recovery = recovery or Recovery()
        self._placer = placer(state)
        self.state = self._placer.state
        self._now_s = 0.0
        self._reserved: Reservation | None = None
        self._hopeless: set[int] = set()
        """groups that found no place since something was last given back"""
        self._beside: set[int] = set()
        """groups that found none beside what is reserved: since then in pooled racks, where looking again is slow, or
        since a job last started, where the policy answers alike"""
        self._places: dict[int, Placement] = {}
        """where jobs of a group would stand if nothing were reserved, found since a job last started or ended"""
        self._hidden: Placement | None = None
        """what is reserved and free, while it is taken so that nobody else takes it"""
        self._free_part: Placement | None = None
        """what is reserved and free, found since a job last started or ended"""
        self._fastest = dict(zip(jobs.group, (kind.fastest for kind in jobs.kind), strict=True))
        """highest rate, by group"""
        self._looks: list[tuple[float, Callable[[FreeState], None]]] = []
        self._recovery.begin(state)
        self._keep_spares(is_changed=True)

    def sample(self, at_s: Sequence[float], look: Callable[[FreeState], None]) -> None:
        """Look at the state at these times too."""
        self._looks += [(time_s, look) for time_s in at_s]
        self._looks.sort(key=lambda entry: -entry[0])

    def run(self) -> None:
        """All events until every job has left; what ends at one time is one event."""
        number, total, runs, queue = 0, len(self.jobs), self.runs, self.queue
        while True:
            arrival_s = self.jobs.arrival_s[number] if number < total else inf
            outage_s = self._outages.next_s if self._outages is not None else inf
            end_s = runs.next_end_s
            now_s = min(arrival_s, end_s, outage_s)
            if now_s == inf or (number == total and not runs.running and not queue.length):
                return
            self._advance(now_s)
            if end_s == now_s:
                while runs.next_end_s == now_s:
                    runs.finish(runs.next_run(), now_s, self.state)
                self._keep_spares()
                self.log.timed(self._schedule)
            elif outage_s == now_s:
                self.log.timed(self._break)
            else:
                self._arriving = number
                number += 1
                self.log.timed(self._arrive)

    def _advance(self, now_s: float) -> None:
        while self._looks and self._looks[-1][0] < now_s:
            self._looks.pop()[1](self.state)
        waiting = self.queue.length
        smallest = self.queue.smallest() if waiting else 0
        self.log.advance(now_s, self.runs.busy, self.state.num_free, waiting, smallest)
        self._now_s = now_s
        self.queue.at(now_s)

    def _start(self, job: int, placement: Placement) -> None:
        self._places.clear()
        self._free_part = None
        if not self.state.has_pool:
            self._beside.clear()
        self.runs.start(job, placement, self._now_s, self.rules.downtime_s)

    def _arrive(self) -> None:
        job = self._arriving
        kind = self.jobs.kind[job]
        if not kind.rows:
            self.log.never_fit += 1
            return
        if self.rules.discipline == "loss":
            placement = self._place(kind)
            if placement is not None:
                self._start(job, placement)
            return
        self.queue.push(job, self.runs.left_s[job])
        if self.queue.is_timed or self.queue.head() == job:
            self._schedule()
        elif self.rules.discipline == "easy":
            self._backfill([job])

    def _schedule(self) -> None:
        """Start first jobs as long as they find a place, then fill up behind the one that does not."""
        self._hopeless.clear()
        self._beside.clear()
        self._places.clear()
        self._free_part = None
        while self.queue.length:
            head = self.queue.head()
            kind = self.jobs.kind[head]
            reserved = self._reserved
            if reserved is not None and (reserved.job != head or reserved.time_s < self._now_s):
                self._reserved = None
            placement = self._place(kind)
            if placement is not None:
                self.queue.remove(head)
                self._reserved = None
                self._start(head, placement)
            elif self._must_wait(head, kind):
                if self.rules.discipline == "easy":
                    self._backfill(None)
                return

    def _place(self, kind: JobClass) -> Placement | None:
        """A place for the job that is first: found by the policy, reserved, or made by others that move."""
        placement, reserved = self._placer.place(kind), self._reserved
        if placement is None and reserved is not None and reserved.is_free(self.state):
            placement = reserved.placement
            self.state.take(placement)
        if placement is None and self._rescue is not None and kind.held <= self.state.num_free:
            found = self._rescue(self.state, kind, self.runs.running.values())
            if found is not None:
                placement, moves = found
                for run, place in moves:
                    self.runs.move(run, place, self._now_s, self.rules.downtime_s)
                self._reserved = None
        return placement

    def _must_wait(self, head: int, kind: JobClass) -> bool:
        """Reserve a place for the first job; False, and the job is gone, where there will never be one."""
        if self.rules.discipline == "fifo" and self.runs.running:
            return True
        if self._reserved is None:
            self._reserved = reserve(head, kind, self._placer, self.runs.by_end)
        if self._reserved is not None or (self._outages is not None and self._outages.next_s < inf):
            return True
        self.queue.remove(head)
        self.log.never_fit += 1
        return False

    def _backfill(self, only: Sequence[int] | None) -> None:
        """Start jobs behind the first one, all in order or `only` some, that leave it what is reserved."""
        reserved = self._reserved
        if reserved is None:
            if not self._recovery.is_default:
                self._fill_up(only)
            return
        state, groups, sizes, works_s = self.state, self.jobs.group, self.jobs.group_size, self.runs.left_s
        fastest, beside, left_s = self._fastest, self._beside, reserved.time_s - self._now_s
        stopped, later_s = self.runs.stopped, left_s - self.rules.downtime_s
        free, beyond, looked_at = state.num_free, state.num_free - reserved.num_free(state), 0
        barred = self._hopeless
        if only is None:
            barred = barred | self.queue.unable(free, beyond, left_s, fastest)
        for job in self.queue.behind(reserved.job, barred, self.rules.depth) if only is None else only:
            group = groups[job]
            if group in barred:
                continue
            if looked_at == self.rules.depth or not free:
                break
            looked_at += 1
            is_short_of_room = sizes[group] > beyond or group in beside
            if is_short_of_room and works_s[job] > (later_s if job in stopped else left_s) * fastest[group]:
                continue
            placement = self._place_behind(reserved, job, beyond, barred)
            if placement is not None:
                self.queue.remove(job)
                self._start(job, placement)
                free -= len(placement.held)
                beyond = state.num_free if self._hidden is not None else free - reserved.num_free(state)
        self._show()

    def _fill_up(self, only: Sequence[int] | None) -> None:
        """While the first job has no place before parts work again, others start as they fit."""
        barred, looked_at = set(self._hopeless), 0
        for job in self.queue.behind(self.queue.head(), barred, self.rules.depth) if only is None else only:
            if self.jobs.group[job] in barred and only is None:
                continue
            if looked_at == self.rules.depth or not self.state.num_free:
                return
            looked_at += 1
            placement = self._placer.place(self.jobs.kind[job])
            if placement is None:
                barred.add(self.jobs.group[job])
            else:
                self.queue.remove(job)
                self._start(job, placement)

    def _place_behind(self, reserved: Reservation, job: int, beyond: int, barred: set[int]) -> Placement | None:
        """A place where a job ends in time, or shares nothing with what is reserved; `beyond` free devices are not.

        Where it finds no place at all, its group is barred.
        """
        kind, work_s = self.jobs.kind[job], self.runs.left_s[job]
        left_s = reserved.time_s - self._now_s - self.runs.pause_s(job, self.rules.downtime_s)
        if work_s <= left_s * kind.fastest:
            placement = self._first_place(job)
            if placement is None:
                barred.add(self.jobs.group[job])
                self._hopeless.add(self.jobs.group[job])
                return None
            if work_s <= left_s * placement.row.rate or reserved.is_apart(placement):
                self._show()
                self.state.take(placement)
                return placement
        if kind.held > beyond or self.jobs.group[job] in self._beside:
            return None
        if self._hidden is None:
            self._hidden = self._free_part = self._free_part or reserved.free_part(self.state)
            self.state.take(self._hidden)
        placement = self._placer.place(kind)
        if placement is None and (self.state.has_pool or self._placer.is_fixed):
            self._beside.add(self.jobs.group[job])
        return placement

    def _first_place(self, job: int) -> Placement | None:
        """Where the policy would put a job if nothing were reserved; nothing is taken."""
        group = self.jobs.group[job]
        if group in self._places:
            return self._places[group]
        self._show()
        placement = self._placer.look(self.jobs.kind[job])
        if placement is not None and self._placer.is_fixed:
            self._places[group] = placement
        return placement

    def _show(self) -> None:
        """What is hidden is free again."""
        if self._hidden is not None:
            self.state.release(self._hidden)
            self._hidden = None

    def _break(self) -> None:
        """A part fails or works again: jobs that stand on it come back elsewhere, or wait."""
        assert self._outages is not None
        recovery, faults, running = self._recovery, self.log.faults, self.runs.running
        self._placer, broken = recovery.strike(self._outages.step(), self.state, self.runs, self._now_s, self._make)
        self.state, self._reserved = self._placer.state, None
        for run in broken:
            found = recovery.again(run, self._placer, running.values())
            if found is not None:
                self._go_on(run, *found)
            elif self.rules.discipline != "loss":
                self.queue.push(run.job, run.work_s)
            if found is None and faults is not None:
                faults.evictions += 1
        self._keep_spares(is_changed=True)
        self._schedule()

    def _go_on(self, run: Run, placement: Placement, moves: Moves) -> None:
        """A job that lost a part runs again; others move for it."""
        self.log.moves += 1
        if self.log.faults is not None:
            self.log.faults.moved_accelerators += len(set(placement.held) - set(run.placement.held))
        for other, place in moves:
            self.runs.move(other, place, self._now_s, self.rules.downtime_s)
        self._start(run.job, placement)

    def _keep_spares(self, *, is_changed: bool = False) -> None:
        """Servers that are wholly free take the place of spares that are missing."""
        recovery = self._recovery
        if (recovery.refill(self.state) or is_changed) and self.log.faults is not None:
            spare = recovery.num_spares * self.state.per_server
            self.log.faults.capacity(self._now_s, spare, recovery.num_down)
