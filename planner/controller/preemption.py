"""Preemption: a job of a higher priority stops the fewest others that leave it a place it can use."""

import time
from collections.abc import Sequence

from planner.controller.free_state import Found
from planner.controller.ledger import Entry
from planner.controller.settings import MOST_PRIORITY
from planner.controller.state import ClusterState
from planner.cpsat.preemption import PreemptionServers, fewest_victims
from planner.fabrics.job_class import JobClass
from planner.formulation.servers_by_rack import AskedOfRacks

MOST_SERVERS = 48
"""servers that are looked at together, those on which the most is free or can be freed"""
MOST_LOST = 999
"""accelerator-minutes of a job, beyond which all have run as long"""
MOST_TRIES = 4
"""sets of victims whose place is tried, where light may be short"""


def preempt(state: ClusterState, entry: Entry, kind: JobClass, deadline_s: float) -> bool:
    """Start a job in place of the fewest others; False where none may be stopped for it or no place comes of it."""
    if not state.has_below(entry.request.priority):
        return False
    new = state.new
    able = [other for other in state.running() if other.name not in new and _may_stop(state, entry, other)]
    best: list[Entry] | None = None
    groups = [*state.free.state.together]
    if kind.over_racks:
        groups.append(range(state.free.cluster.fabric.num_servers))
    lowest = min((other.request.priority for other in able), default=0)
    for servers in groups if able else ():
        most = len(able) if best is None else len(best)
        chosen = _among(state, kind, servers, able, most, deadline_s)
        if chosen is not None and (best is None or _worth(state, chosen) < _worth(state, best)):
            best = chosen
        is_least = best is not None and len(best) == 1 and best[0].request.priority == lowest
        if time.perf_counter() > deadline_s or is_least:
            break
    return best is not None and _replace(state, entry, kind, best, deadline_s)


def _may_stop(state: ClusterState, entry: Entry, other: Entry) -> bool:
    request = other.request
    return (
        request.preemptible
        and request.priority < entry.request.priority
        and other.preempted < state.settings.most_preemptions
    )


def _among(
    state: ClusterState, kind: JobClass, servers: Sequence[int], able: Sequence[Entry], most: int, deadline_s: float
) -> list[Entry] | None:
    """The fewest jobs on some servers without which there is a free place there."""
    names = {entry.name for entry in able}
    free, barred = state.free.state.free_for(kind), state.drained
    room = {
        s: free[s] + sum(ranks for name, ranks in state.on(s).items() if name in names)
        for s in servers
        if s not in barred
    }
    near = sorted(sorted(room, key=lambda s: (-room[s], s))[:MOST_SERVERS])
    number = {server: i for i, server in enumerate(near)}
    running = [
        (e, tuple((number[s], state.on(s)[e.name]) for s in e.place.servers if s in number)) for e in able if e.place
    ]
    running = [(e, where) for e, where in running if where]
    site = PreemptionServers(
        tuple(free[server] for server in near),
        tuple(where for _, where in running),
        tuple(_cost(state, e) for e, _ in running),
    )
    part = min(row.shape.part for row in kind.rows)
    parts = -(-kind.held // part)
    rack_of, numbers = state.free.cluster.fabric.rack_of, kind.rows[0].shape.servers_by_rack
    by_rack = None if numbers is None else AskedOfRacks(numbers, tuple(map(rack_of, near)))
    refused: list[frozenset[int]] = []
    while len(refused) < MOST_TRIES and (left_s := deadline_s - time.perf_counter()) > 0:
        chosen = fewest_victims(
            site, part, parts, most=most, time_limit_s=left_s, refused=refused, is_even=kind.is_even, by_rack=by_rack
        )
        if chosen is None:
            return None
        victims = [running[i][0] for i in chosen]
        if _fits_without(state, kind, victims, deadline_s):
            return victims if not state.free.state.has_pool else _needed(state, kind, victims, deadline_s)
        refused.append(frozenset(chosen))
    return None


def _needed(state: ClusterState, kind: JobClass, victims: list[Entry], deadline_s: float) -> list[Entry]:
    """Victims of whom none can stay: in a pool they may leave more memory than was counted."""
    for victim in sorted(victims, key=lambda entry: -_cost(state, entry)):
        fewer = [entry for entry in victims if entry is not victim]
        if fewer and _fits_without(state, kind, fewer, deadline_s):
            victims = fewer
    return victims


def _cost(state: ClusterState, entry: Entry) -> int:
    """Of equally many victims those of the lowest priority go, then those that have run the least."""
    lost_s = state.now_s - entry.started_s
    assert entry.place is not None
    lost = min(int(lost_s * len(entry.place.devices) / 60), MOST_LOST)
    return (MOST_PRIORITY + entry.request.priority) * (MOST_LOST + 1) + lost


def _worth(state: ClusterState, victims: Sequence[Entry]) -> tuple[int, int]:
    """The less, the better to stop."""
    return len(victims), sum(_cost(state, victim) for victim in victims)


def _fits_without(state: ClusterState, kind: JobClass, victims: Sequence[Entry], deadline_s: float) -> bool:
    """True if there is a free place once these jobs have left; it is left as it was."""
    free = state.free
    for entry in victims:
        free.state.release(free.held[entry.name])
    found = free.find(kind.name, kind, state.drained, deadline_s)
    if found.placement is not None:
        free.state.release(found.placement)
    for entry in victims:
        free.state.take(free.held[entry.name])
    return found.placement is not None


def _replace(state: ClusterState, entry: Entry, kind: JobClass, victims: Sequence[Entry], deadline_s: float) -> bool:
    """Stop the victims and start the job, or nothing changes."""
    free = state.free
    for victim in victims:
        free.state.release(free.held[victim.name])
    found: Found = free.find(entry.kind, kind, state.drained, deadline_s)
    leaving = [victim.name for victim in victims]
    objection = "no place" if found.place is None else state.validator.objection(entry.request, found.place, leaving)
    if objection is not None:
        if found.placement is not None:
            free.state.release(found.placement)
        for victim in victims:
            free.state.take(free.held[victim.name])
        return False
    for victim in victims:
        del free.held[victim.name]
        because = f"{entry.name} of priority {entry.request.priority} needs its place"
        state.stop(victim, "preempted", because, waits=True)
    state.counts.preempted += len(victims)
    return state.start(entry, found)
