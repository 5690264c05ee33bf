"""Running jobs that wait for more accelerators: each has a place in the queue, and servers are kept for the first."""

from collections import Counter
from math import inf

from planner.controller.decisions import Reserve, Wait
from planner.controller.growing import NotGrownError, find_beside, larger_rows, left_alone, needed_beside
from planner.controller.ledger import Entry
from planner.controller.negative_cache import OF
from planner.controller.resized import carry_out
from planner.controller.state import ClusterState
from planner.fabrics.demand import Demand
from planner.fabrics.job_class import JobClass


def grow(
    state: ClusterState, growth: Entry, kind: JobClass, tried: str, barred: frozenset[int], budget_s: float
) -> bool:
    """Carry out a growth that waits, if it finds room beside its job; else its user hears of another reason."""
    entry, mark = state.ledger.jobs[growth.name], (kind, f"{tried}{OF}{growth.name}")
    racks = _racks(state, kind, entry)
    if mark in state.negative_cache or {*racks}.isdisjoint(state.negative_cache.open(mark)):
        return False
    try:
        found = find_beside(state, entry, growth.request, growth.kind, barred, budget_s)
    except NotGrownError as error:
        state.negative_cache.end(mark)
        if error.tag not in ("quota", "time"):
            state.negative_cache.fail(mark, racks)
        if growth.wait is None or error.tag != growth.wait.tag:
            state.wait(growth, error.tag, error.problem)
        return False
    entry.request, entry.kind = growth.request, growth.kind
    carry_out(state, entry, found, "grow")
    return True


def why_not_yet(state: ClusterState, growth: Entry) -> Wait | None:
    """What a growth waits for: counted anew where too few are free, else as its user was told last; None where nobody
    has looked yet."""
    entry, kind = state.ledger.jobs[growth.name], state.kind(growth)
    assert entry.place is not None
    larger = larger_rows(kind.rows, entry.place)
    if not larger or growth.waits_in_vain:
        return growth.wait
    barred = state.drained | left_alone(state.ledger.reserved, entry, state.now_s)
    needed, short = needed_beside(state, entry.place, larger, barred)
    return growth.wait if short is None else Wait(growth.name, short, needed)


def _racks(state: ClusterState, kind: JobClass, entry: Entry) -> list[int]:
    """Racks in which a job may get more."""
    assert entry.place is not None
    if kind.over_racks:
        return list(range(len(state.free.racks)))
    return state.negative_cache.racks_of(entry.place.servers)


def reserve_beside(state: ClusterState, growth: Entry, kind: JobClass) -> Reserve | None:
    """Servers, its own among them, on which it would find room once all others have left: those that are clear first.
    None where working ones never suffice, and for a growth over racks."""
    place = state.ledger.jobs[growth.name].place
    assert place is not None
    larger = [row for row in larger_rows(kind.rows, place) if row.shape.racks == 1]
    if not larger:
        return None
    shape, own = min(larger, key=lambda row: row.shape.num_ranks).shape, Counter(server for server, _ in place.devices)
    more, begun = _more(state, kind, shape, own), {server for server in own if own[server] % shape.part}
    clear_s = {server: _clear_s(state, server, growth.name) for server in more}
    missing, chosen = shape.num_ranks - len(place.devices), list[int]()
    for server in sorted(more, key=lambda server: (server not in begun, clear_s[server], -more[server], server)):
        if missing <= 0:
            break
        chosen.append(server)
        missing -= more[server]
    if missing > 0 or not begun <= {*chosen}:
        return None
    at_s = max(clear_s[server] for server in chosen)
    return Reserve(growth.name, tuple(sorted(chosen)), None if at_s == inf else max(at_s, state.now_s))


def _more(state: ClusterState, kind: JobClass, shape: Demand, own: Counter[int]) -> dict[int, int]:
    """How many more ranks of a job each server near it would take without other jobs, if any."""
    working, closed = state.free.able(kind), state.drained | state.void
    near = next(servers for servers in state.free.racks if next(iter(own)) in servers)
    most = {server: shape.part * min(working[server] // shape.part, shape.most_parts) for server in near}
    return {
        server: most[server] - own[server] for server in near if most[server] > own[server] and server not in closed
    }


def _clear_s(state: ClusterState, server: int, job: str) -> float:
    """When all others on a server have ended by their limits."""
    others = (state.ledger.jobs[name].end_s for name in state.on(server) if name != job)
    return max(others, default=0.0)


def is_clear(state: ClusterState, growth: Entry) -> bool:
    """True if nobody else is on what is kept for a growth."""
    kept = state.ledger.reserved.servers
    return bool(kept) and all({*state.on(server)} <= {growth.name} for server in kept)
