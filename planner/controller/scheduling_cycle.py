"""A scheduling cycle over the queue: jobs start in order, the first without room gets CP-SAT or a reservation."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf

from planner.controller.batch import start_batch
from planner.controller.decisions import Reserve
from planner.controller.defragmentation import make_room
from planner.controller.free_state import Found
from planner.controller.growing import left_alone
from planner.controller.job_queue import Group
from planner.controller.ledger import Entry
from planner.controller.negative_cache import Mark
from planner.controller.pending_reason import GOES_ON, NOT_REACHED, Reason, why
from planner.controller.preemption import preempt
from planner.controller.queue_depth import (
    LOOKS,
    goes_before_its_tenant,
    is_passed_over,
    lets_go_first,
    quota_is_kept_for,
    tried_behind,
    within_quota,
)
from planner.controller.reservation import is_ready, renewed
from planner.controller.state import ClusterState
from planner.controller.waiting_growth import grow, is_clear
from planner.fabrics.job_class import JobClass

RACKS = 4
"""that are looked at together, so that the most valuable way to run is found among them"""


@dataclass
class SchedulingCycle:
    """Budgets of one event, and what has been found out meanwhile."""

    state: ClusterState
    greedy_s: float
    """seconds for the search of a place for the first job, and again for all behind it"""
    repair_s: float
    """seconds for CP-SAT"""
    is_deep: bool = False
    """whether others move for jobs behind the first, too"""
    batch: frozenset[str] = frozenset()
    """jobs that arrived together and have not been looked at together yet"""
    ran_out: set[str] = field(default_factory=set)
    """jobs whose search was cut short"""
    first_of: dict[str, Entry] = field(default_factory=dict)
    """by tenant, the job that waits for its quota and before which no other one of it starts"""
    beyond_quota: set[str] = field(default_factory=set)
    """jobs that would take the quota that the first one of their tenant needs"""
    last: Entry | None = None
    """that was looked at before an event had done all that it may"""

    def run(self) -> None:
        """Serve the queue; what happened is in the decisions of the state."""
        while self._once():
            pass

    def _once(self) -> bool:
        """Serve the queue once; True where CP-SAT changed the state, so that it is worth another look."""
        state, passed, self.last = self.state, set[Group](), None
        self.first_of, self.beyond_quota = {}, set()
        head: Entry | None = None
        before: Entry | None = None
        is_alone = True  # nobody but who grows has been passed over: nobody moves for these, but for the next job
        looked, seen, deadline_s = 0, 0, 0.0
        for entry in state.queue.ordered(state.now_s, passed=passed):
            if seen == LOOKS * state.settings.depth:
                self.last = before
                break
            seen, before = seen + 1, entry
            if entry.name in self.batch and entry.request.tenant not in self.first_of and self._by_batch():
                return True
            kind = state.kind(entry)
            if self._is_kept_out(entry, kind):
                passed.add(state.queue.group_of(entry))
            elif head is None:
                if self._place(entry, kind, "open", state.drained, self._soon()) or not self._keep_room(entry, kind):
                    continue
                if self._place_kept(entry, kind):
                    continue
                if self._by_search(entry, kind):
                    return True
                head, deadline_s = entry, self._soon()
            else:
                kind = self._within_quota(entry, kind)
                if not (kind.rows or entry.grows):
                    continue
                looked += self._behind(entry, kind, passed, deadline_s)
                is_next, is_alone = head.grows and is_alone and not entry.grows, is_alone and entry.grows
                if (self.is_deep or is_next) and entry.name in state.queue and self._by_moves(entry, kind):
                    return True
                if looked >= state.settings.depth or time.perf_counter() > deadline_s:
                    self.last = entry
                    break
        if head is None and state.ledger.reserved.job is not None:
            state.decide(Reserve(None))
        return False

    def _is_kept_out(self, entry: Entry, kind: JobClass) -> bool:
        """True for a job that its tenant's quota does not admit, and for others of a tenant of which one goes first."""
        state, tenant = self.state, entry.request.tenant
        if tenant in self.first_of:
            return True
        if kind.rows or entry.grows:
            return False
        if goes_before_its_tenant(state, entry, state.now_s):
            self.first_of[tenant] = entry
            own = {name for name in self.batch if state.ledger.jobs[name].request.tenant == tenant}
            self.batch -= own
        return True

    def _within_quota(self, entry: Entry, kind: JobClass) -> JobClass:
        """What a job behind the first one may take of the quota that they share."""
        state = self.state
        left = within_quota(state, entry, kind, state.ledger.reserved)
        if kind.rows and not left.rows:
            self.beyond_quota.add(entry.name)
        return left

    def _place(self, entry: Entry, kind: JobClass, tried: str, barred: frozenset[int], deadline_s: float) -> bool:
        """Start a job where there is a free place."""
        state = self.state
        if entry.grows:
            return self._grow(entry, kind, tried, barred, deadline_s)
        mark = kind, tried
        if kind.held > state.free.state.num_free or mark in state.negative_cache:
            return False
        found = self._search(entry, kind, mark, barred, deadline_s)
        if found.placement is None:
            state.negative_cache.end(mark)
            if found.ran_out:
                self.ran_out.add(entry.name)
            return False
        return self._start(entry, found)

    def _start(self, entry: Entry, found: Found) -> bool:
        is_started = self.state.start(entry, found)
        self.state.counts.greedy += is_started
        return is_started

    def _grow(self, entry: Entry, kind: JobClass, tried: str, barred: frozenset[int], deadline_s: float) -> bool:
        """A running job goes on with more where these are free."""
        return grow(self.state, entry, kind, tried, barred, deadline_s - time.perf_counter())

    def _search(self, entry: Entry, kind: JobClass, mark: Mark, barred: frozenset[int], deadline_s: float) -> Found:
        """Look on a few racks at a time, and on none in vain again: a search that is cut short goes on there later. A
        place for what may lie in several racks is looked for in all of them at once."""
        state, free = self.state, self.state.free
        racks, found, step = state.negative_cache.open(mark), Found(), RACKS
        if kind.over_racks and racks:
            racks = list(range(len(free.racks)))
        if kind.over_racks or not free.state.is_costly:
            step = max(1, len(racks))
        for first in range(0, len(racks), step):
            near = racks[first : first + step]
            found = free.find(entry.kind, kind, barred, deadline_s, near)
            if found.placement is not None or found.ran_out:
                break
            state.negative_cache.fail(mark, near)
        return found

    def _place_kept(self, entry: Entry, kind: JobClass) -> bool:
        """Start the first job where it was kept room, once that is free: this search is never cut short."""
        state, kept = self.state, self.state.ledger.reserved.servers
        if not (is_clear(state, entry) if entry.grows else is_ready(state, kind)):
            return False
        if entry.grows:
            is_grown = self._grow(entry, kind, "kept", state.drained, inf)
            if not is_grown:
                state.useless.add(kept)
            return is_grown
        barred, racks = state.all_servers.difference(kept) | state.drained, state.negative_cache.racks_of(kept)
        found = state.free.find(entry.kind, kind, barred, inf, racks)
        if found.placement is not None and self._start(entry, found):
            return True
        if state.free.state.servers_are_counts or not any(map(state.on, kept)):
            state.useless.add(kept)
        return False

    def _soon(self) -> float:
        """Time by which a search that begins now must end."""
        return time.perf_counter() + self.greedy_s

    def _by_search(self, entry: Entry, kind: JobClass) -> bool:
        """Start the first job by CP-SAT: others move, or give way."""
        state, settings = self.state, self.state.settings
        mark = kind, f"search {entry.request.priority}"
        if entry.grows or self.repair_s <= 0 or mark in state.negative_cache:
            return False
        deadline_s = time.perf_counter() + self.repair_s
        racks = state.negative_cache.open(mark)
        is_started = (settings.moves and make_room(state, entry, kind, state.drained, deadline_s, racks)) or (
            settings.preempts and preempt(state, entry, kind, deadline_s)
        )
        self.repair_s = deadline_s - time.perf_counter()
        if not is_started:
            state.negative_cache.end(mark)
            if self.repair_s > 0:
                state.negative_cache.fail(mark, racks)
        return is_started

    def _by_batch(self) -> bool:
        """Start jobs that arrived together as a whole, once all ahead of them have been looked at."""
        if self.repair_s <= 0:
            return False
        deadline_s = time.perf_counter() + self.repair_s
        is_started, self.batch = start_batch(self.state, self.batch, deadline_s)
        self.repair_s = deadline_s - time.perf_counter()
        return is_started

    def _by_moves(self, entry: Entry, kind: JobClass) -> bool:
        """Start a job behind the first one by moving others, apart from what is kept."""
        state, mark = self.state, (kind, "moves")
        if entry.grows or self.repair_s <= 0 or not state.settings.moves or mark in state.negative_cache:
            return False
        deadline_s = time.perf_counter() + self.repair_s
        barred, racks = state.drained | frozenset(state.ledger.reserved.servers), range(len(state.free.racks))
        is_started = make_room(state, entry, kind, barred, deadline_s, racks)
        self.repair_s = deadline_s - time.perf_counter()
        if not is_started:
            state.negative_cache.end(mark)
        return is_started

    def _keep_room(self, entry: Entry, kind: JobClass) -> bool:
        """Keep servers for the first job. False, and nothing is kept, for one that grows and that none would help:
        others go on as without it."""
        kept = renewed(self.state, entry, kind)
        if entry.grows and (entry.waits_in_vain or not kept.servers):
            return False
        if kept is not self.state.ledger.reserved:
            self.state.decide(kept)
        return True

    def _behind(self, entry: Entry, kind: JobClass, passed: set[Group], deadline_s: float) -> bool:
        """Start a job behind the first one where it does not delay it; whether it was looked at."""
        state = self.state
        reserved = state.ledger.reserved
        kept = frozenset(reserved.servers)
        if entry.grows:
            kept = left_alone(reserved, state.ledger.jobs[entry.name], state.now_s)
            self._grow(entry, kind, "beside" if kept else "open", state.drained | kept, deadline_s)
            return True
        if is_passed_over(state, entry, kind, passed):
            return False
        tried = tried_behind(state, entry)
        barred = state.drained if tried == "open" else state.drained | kept
        self._place(entry, kind, tried, barred, deadline_s)
        return True

    def tell(self, names: Sequence[str]) -> None:
        """Say why these jobs wait, where they do."""
        state = self.state
        for name in names:
            if name in state.queue:
                entry = state.ledger.jobs[name]
                state.wait(entry, *why(state, entry, state.ledger.reserved, unknown=self._unknown(entry)))

    def _unknown(self, entry: Entry) -> Reason | None:
        """Why nobody knows whether there is a place for a job that waits; None where it was looked for."""
        if entry.name in self.ran_out:
            return GOES_ON
        first = self.first_of.get(entry.request.tenant)
        if first is not None and first is not entry:
            return lets_go_first(first)
        if entry.name in self.beyond_quota and (head := self.state.ledger.reserved.job) is not None:
            return quota_is_kept_for(head)
        queue, now_s = self.state.queue, self.state.now_s
        is_behind = self.last is not None and queue.rank(entry, now_s) > queue.rank(self.last, now_s)
        return NOT_REACHED if is_behind else None
