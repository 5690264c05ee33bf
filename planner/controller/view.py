"""Views of a controller's jobs: one of them, or all at one moment, for pages and metrics."""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, NamedTuple

from planner.controller.decisions import Reserve, Wait
from planner.controller.ledger import Entry
from planner.controller.pending_reason import why
from planner.controller.queue_depth import why_not_looked_for
from planner.controller.settings import Request
from planner.controller.state import ClusterState, Counts
from planner.controller.waiting_growth import why_not_yet
from planner.model.cluster import Cluster
from planner.placement.placement import Place

FRESH = 30
"""reasons that are found out anew for one view; jobs beyond them wait for what they were told last"""


class JobState(NamedTuple):
    """One job as it is now."""

    request: Request
    state: Literal["waiting", "running"]
    arrived_s: float
    started_s: float | None
    place: Place | None
    waits_for: Wait | None
    """why it waits"""
    number: int
    """counted in the order of arrival, from 0"""
    growth: "JobState | None" = None
    """the same job as it waits to be, with more accelerators"""


@dataclass(frozen=True)
class View:
    """One moment of a controller."""

    seq: int
    """events in the journal"""
    cluster: Cluster
    """with all that is down, drained servers aside"""
    failed: tuple[str, ...]
    """parts by name, in the order in which they failed"""
    drained: tuple[str, ...]
    """servers by name"""
    running: tuple[JobState, ...]
    """in the order of arrival"""
    waiting: tuple[JobState, ...]
    """the first ones, in the order in which they are served"""
    num_waiting: int
    reserved: Reserve
    num_free: int
    """working accelerators that nobody holds"""
    counts: Counts


def job_state(state: ClusterState, entry: Entry, waits_for: Wait | None = None) -> JobState:
    """A job as it is now; `waits_for`: why it waits, where that is known already."""
    request, number = entry.request, entry.number
    if entry.place is not None:
        growth = state.ledger.growths.get(entry.name)
        larger = None if growth is None else _growth(state, growth)
        return JobState(request, "running", entry.arrived_s, entry.started_s, entry.place, None, number, larger)
    waits_for = waits_for or _why_now(state, entry)
    return JobState(request, "waiting", entry.arrived_s, None, None, waits_for, number)


def _why_now(state: ClusterState, entry: Entry) -> Wait:
    """Why a job waits, counted anew."""
    kept = state.ledger.reserved
    unknown = why_not_looked_for(state, entry, kept, state.now_s)
    return Wait(entry.name, *why(state, entry, kept, unknown=unknown))


def _growth(state: ClusterState, growth: Entry) -> JobState:
    """A running job as it waits to be."""
    waits_for = why_not_yet(state, growth)
    return JobState(growth.request, "waiting", growth.arrived_s, None, None, waits_for, growth.number)


def view(state: ClusterState, seq: int, most_waiting: int) -> View:
    """This moment, with so many of the waiting jobs: those that ask for the same wait for the same, found out once."""
    ledger = state.ledger
    known: dict[tuple[str, str, bool], Wait] = {}
    waiting = []
    queue = (entry for entry in state.queue.ordered(state.now_s, passed=set()) if not entry.grows)
    for entry in islice(queue, most_waiting):
        alike = entry.request.tenant, entry.kind, entry.name == ledger.reserved.job
        if alike not in known:
            last = entry.wait if len(known) >= FRESH else None
            known[alike] = last or _why_now(state, entry)
        waiting.append(job_state(state, entry, replace(known[alike], job=entry.name)))
    return View(
        seq=seq,
        cluster=state.free.cluster,
        failed=tuple(ledger.failed),
        drained=tuple(ledger.drained),
        running=tuple(job_state(state, entry) for entry in state.running()),
        waiting=tuple(waiting),
        num_waiting=len(state.queue) - len(ledger.growths),
        reserved=ledger.reserved,
        num_free=state.free.state.num_free,
        counts=replace(state.counts),
    )
