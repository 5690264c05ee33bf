"""Parts fail, work again, or are drained: who stands on them goes on elsewhere, or waits."""

from dataclasses import replace
from math import inf

from planner.controller.decisions import Reserve
from planner.controller.free_state import Found
from planner.controller.ledger import Entry
from planner.controller.state import ClusterState


def flee(state: ClusterState) -> list[str]:
    """Follow a change of health: jobs on failed parts move, as they are and to their own servers if they can, or are
    stopped and wait again. Names of those that wait."""
    kept = _unkeep(state)
    broken = state.health_changed()
    names = [entry.name for entry in broken]
    stopped = []
    for entry in sorted(broken, key=lambda entry: (-entry.request.priority, entry.number)):
        found = _elsewhere(state, entry, names, kept)
        names.remove(entry.name)
        if found.placement is None or found.place is None:
            state.stop(entry, "failed", "a part that it stands on has failed, and there is no other place", waits=True)
            stopped.append(entry.name)
        else:
            state.move(entry, found.placement, found.place, "a part that it stood on has failed")
    return stopped


def clear(state: ClusterState, server: str) -> list[str]:
    """Movable jobs leave a server that takes no more; those without another place of their size stay until they end."""
    kept = _unkeep(state)
    for name in list(state.on(state.server_numbers[server])):
        entry = state.ledger.jobs[name]
        if not entry.request.movable:
            continue
        before = state.free.held[name]
        state.free.state.release(before)
        found = _elsewhere(state, entry, [], kept, is_as_large=True)
        if found.placement is None or found.place is None:
            state.free.state.take(before)
        else:
            state.move(entry, found.placement, found.place, f"{server} is drained")
    return []


def _unkeep(state: ClusterState) -> frozenset[int]:
    """Servers are chosen anew for the first waiting job; those that were kept for it."""
    kept = frozenset(state.ledger.reserved.servers)
    if state.ledger.reserved.job is not None:
        state.decide(Reserve(None))
    return kept


def _elsewhere(
    state: ClusterState, entry: Entry, leaving: list[str], kept: frozenset[int], *, is_as_large: bool = False
) -> Found:
    """Another place for a running job, of its size or, unless it must be as large, less, taken, beside what was `kept`
    for the first in line where there is one; the validator agrees."""
    place, free = entry.place, state.free
    assert place is not None
    size = len(place.devices)
    found = Found()
    if state.drained.isdisjoint(place.servers):
        found = free.again(place.kind, place.row, [server for server, _ in place.devices])
    if found.placement is None:
        left = state.ledger.tenants.left(entry.request.tenant)[1]
        kind = state.ledger.kinds.limited(entry.kind, size, place.num_ports + max(0, left))
        if is_as_large:
            kind = replace(kind, held=size, rows=tuple(row for row in kind.rows if row.size == size))
        if kept:
            found = free.find(entry.kind, kind, state.drained | kept, inf)
        if found.placement is None:
            found = free.find(entry.kind, kind, state.drained, inf)
    if found.placement is None or found.place is None:
        return Found()
    if state.validator.objection(entry.request, found.place, leaving) is not None:
        state.counts.refused += 1
        free.state.release(found.placement)
        return Found()
    return found
