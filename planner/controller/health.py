"""Parts fail, work again, or are drained: who stands on them goes on elsewhere, or waits."""

from math import inf

from planner.controller.decisions import Reserve
from planner.controller.free_state import Found
from planner.controller.ledger import Entry
from planner.controller.state import ClusterState


def flee(floor: ClusterState) -> list[str]:
    """Follow a change of health: jobs on failed parts move, as they are and to their own servers if they can, or are
    stopped and wait again. Names of those that wait."""
    _unkeep(floor)
    broken = floor.health_changed()
    names = [entry.name for entry in broken]
    stopped = []
    for entry in sorted(broken, key=lambda entry: (-entry.request.priority, entry.number)):
        found = _elsewhere(floor, entry, names)
        names.remove(entry.name)
        if found.placement is None or found.place is None:
            floor.stop(entry, "failed", "a part that it stands on has failed, and there is no other place", waits=True)
            stopped.append(entry.name)
        else:
            floor.move(entry, found.placement, found.place, "a part that it stood on has failed")
    return stopped


def clear(floor: ClusterState, server: str) -> list[str]:
    """Movable jobs leave a server that takes no more; those without another place stay until they end."""
    _unkeep(floor)
    for name in list(floor.on(floor.server_numbers[server])):
        entry = floor.ledger.jobs[name]
        if not entry.request.movable:
            continue
        before = floor.free.held[name]
        floor.free.state.release(before)
        found = _elsewhere(floor, entry, [])
        if found.placement is None or found.place is None:
            floor.free.state.take(before)
        else:
            floor.move(entry, found.placement, found.place, f"{server} is drained")
    return []


def _unkeep(floor: ClusterState) -> None:
    """Servers are chosen anew for the first waiting job."""
    if floor.ledger.reserved.job is not None:
        floor.decide(Reserve(None))


def _elsewhere(floor: ClusterState, entry: Entry, leaving: list[str]) -> Found:
    """Another place for a running job, of its size or less, taken; the validator agrees."""
    place, free = entry.place, floor.free
    assert place is not None
    size = len(place.devices)
    found = Found()
    if floor.drained.isdisjoint(place.servers):
        found = free.again(place.kind, place.row, [server for server, _ in place.devices])
    if found.placement is None:
        left = floor.ledger.tenants.left(entry.request.tenant)[1]
        kind = floor.ledger.kinds.limited(entry.kind, size, place.num_ports + max(0, left))
        found = free.find(entry.kind, kind, floor.drained, inf)
    if found.placement is None or found.place is None:
        return Found()
    if floor.validator.objection(entry.request, found.place, leaving) is not None:
        floor.counts.refused += 1
        free.state.release(found.placement)
        return Found()
    return found
