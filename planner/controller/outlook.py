"""What would become of a job if it were submitted now: asked, and nothing is decided."""

import time
from dataclasses import dataclass

from planner.controller.decisions import Tag
from planner.controller.free_state import Found
from planner.controller.ledger import Entry
from planner.controller.pending_reason import Reason, why
from planner.controller.queue_depth import why_not_looked_for, within_quota
from planner.controller.reservation import kept_for_first, may_enter, reserve
from planner.controller.settings import Request
from planner.controller.state import ClusterState
from planner.fabrics.job_class import JobClass
from planner.placement.placement import Place

LAST = 2**62
"""number of a job that arrives after all others"""
LONGEST_S = 0.1
"""of a search, begun again with so much time where the budget of an event was not enough: nobody else waits for it"""

NOT_KNOWN: Reason = ("time", f"whether they make a place for it was not found out in {LONGEST_S * 1e3:g} ms")


@dataclass(frozen=True)
class Outlook:
    """Whether a job would start, where or why not, and when it could."""

    starts: bool
    """at once, where no other job has to move or stop for it"""
    place: Place | None
    """where it would stand"""
    ahead: int
    """jobs that wait and are served before it"""
    earliest_s: float | None
    """seconds until it could start if all who run keep their limits and nobody is before it; 0 where it starts, None
    where some of them have no limit, or where the search for a place ran out of its time"""
    tag: Tag | None
    because: str | None
    """what stands in the way, in words"""
    most_together: int
    """accelerators that are free for one job, on servers that it may use together"""


def outlook(state: ClusterState, request: Request, now_s: float, greedy_s: float) -> Outlook:
    """The answer for a job, found by a search of so many seconds, or by a second one of at most LONGEST_S."""
    kind_name = state.ledger.kinds.list(request)
    entry = Entry(request, kind_name, LAST, now_s)
    kind, kept = state.kind(entry), kept_for_first(state, now_s, before=entry)
    ahead, ran_out = _ahead(state, entry, now_s), False
    unknown = why_not_looked_for(state, entry, kept, now_s)
    within = within_quota(state, entry, kind, kept)
    if unknown is None and within.rows and within.held <= state.free.state.num_free:
        barred = state.drained if may_enter(kept, entry, now_s) else state.drained.union(kept.servers)
        found = _found(state, kind_name, within, barred, greedy_s)
        ran_out = found.ran_out
        if found.placement is not None and found.place is not None:
            objection = state.validator.objection(request, found.place)
            state.free.state.release(found.placement)
            if objection is None:
                return Outlook(True, found.place, ahead, 0.0, None, None, _most_together(state))
    tag, because = why(state, entry, kept, unknown=NOT_KNOWN if ran_out else unknown)
    reserved = reserve(state, entry, kind) if kind.rows and tag != "time" else None
    at_s = None if reserved is None or reserved.at_s is None else max(reserved.at_s - now_s, 0.0)
    return Outlook(False, None, ahead, at_s, tag, because, _most_together(state))


def _found(state: ClusterState, name: str, kind: JobClass, barred: frozenset[int], greedy_s: float) -> Found:
    """A place, taken."""
    found = state.free.find(name, kind, barred, time.perf_counter() + greedy_s)
    if found.ran_out and greedy_s < LONGEST_S:
        found = state.free.find(name, kind, barred, time.perf_counter() + LONGEST_S)
    return found


def _ahead(state: ClusterState, entry: Entry, now_s: float) -> int:
    """Waiting jobs that are served before it."""
    rank = state.queue.rank(entry, now_s)
    jobs = (other for other in state.ledger.jobs.values() if other.place is None)
    waiting = (*jobs, *state.ledger.growths.values())
    return sum(state.queue.rank(other, now_s) < rank for other in waiting)


def _most_together(state: ClusterState) -> int:
    free = state.free.state
    drained = state.drained
    return max(sum(free.lit[server] for server in servers if server not in drained) for servers in free.together)
