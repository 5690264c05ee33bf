"""Servers that are kept for the first waiting job, so that jobs behind it never delay it for good.

What is kept are whole servers, one server of which enough accelerators will be free (all of them, where these are not
alike), or whole racks for a job that no single one holds. Once all their jobs have left, nothing of others is on them,
nor on the fibers or links between them. A job behind may enter them only if it ends, by its limit, before they are
needed; once that time has passed none may. So the first job starts at the latest when the last of the jobs that stand
there ends: if jobs keep their limits, by the reserved time.
"""

from bisect import bisect_left
from itertools import combinations, islice
from math import inf

import numpy as np
from numpy.typing import NDArray

from planner.controller.decisions import Reserve
from planner.controller.job_queue import Group
from planner.controller.ledger import Entry
from planner.controller.state import ClusterState
from planner.controller.waiting_growth import reserve_beside
from planner.fabrics.asked_racks import shared, with_room
from planner.fabrics.demand import Demand
from planner.fabrics.job_class import JobClass
from planner.fabrics.rack_links import RackLinks
from planner.fabrics.spreads_over_racks import MOST_CHOICES

MOST_SINGLE = 8
"""servers of either sort, emptiest and first empty, that are looked at for a job of one server"""
Ints = NDArray[np.int_]
Choice = tuple[float, int, tuple[int, ...]]
"""(when it is free, servers, which)"""


def reserve(state: ClusterState, entry: Entry, kind: JobClass) -> Reserve | None:
    """Servers that are free the earliest, by the limits of running jobs; None where working ones never suffice."""
    if entry.grows:
        return reserve_beside(state, entry, kind)
    working = np.array(state.free.able(kind))
    working[list(state.drained | state.void)] = 0
    best = _one(state, kind, working)
    if best is None or best[0] == inf:
        best = min(filter(None, (best, _several(state, kind, working))), default=None)
    if best is None or best[0] == inf:
        best = min(filter(None, (best, _over_racks(state, kind, working))), default=None)
    if best is None and state.void:
        best = _whole_rack(state, kind)
    if best is None:
        return None
    at_s = None if best[0] == inf else max(best[0], state.now_s)
    return Reserve(entry.name, best[2], at_s)


def renewed(state: ClusterState, first: Entry, kind: JobClass) -> Reserve:
    """What is kept for the first job from now on: the same as long as it is first, unless its servers take no job, or
    were clear and of no use."""
    kept = state.ledger.reserved
    if kept.job == first.name and state.drained.isdisjoint(kept.servers) and kept.servers not in state.useless:
        return kept
    return reserve(state, first, kind) or Reserve(first.name)


def kept_for_first(state: ClusterState, now_s: float, *, before: Entry | None = None) -> Reserve:
    """What is kept for the job that is first by this time, as the next event would renew it; nothing where none waits,
    or none that comes `before` another one."""
    passed = set[Group]()
    for first in state.queue.ordered(now_s, passed=passed):
        if before is not None and state.queue.rank(first, now_s) > state.queue.rank(before, now_s):
            break
        kind = state.kind(first)
        if kind.rows and not first.waits_in_vain:
            kept = renewed(state, first, kind)
            if kept.servers or not first.grows:
                return kept
        passed.add(state.queue.group_of(first))
    return Reserve(None)


def _one(state: ClusterState, kind: JobClass, working: Ints) -> Choice | None:
    """One server, as soon as enough of it is free, or all of it where that alone is certain to do."""
    free_state, needed = state.free.state, kind.held
    if free_state.has_pool:
        return None  # what is free of a server may lack memory: all of it is kept
    if needed > (kind.parts[0] if kind.is_even else free_state.per_server) or all(
        row.shape.chooses_servers for row in kind.rows
    ):
        return None
    free, able = np.array(free_state.any if needed == 1 else free_state.lit), np.flatnonzero(working >= needed)
    clear_s = state.occupancy.clear_s
    if not free_state.servers_are_counts:  # those that are free may not lie together before the server is clear
        first = min(able.tolist(), key=lambda server: (clear_s[server], -free[server], server), default=None)
        return None if first is None else (float(clear_s[first]), 1, (first,))
    near = {
        int(server)
        for key in (-free[able], clear_s[able])
        for server in able[np.argsort(key, kind="stable")[:MOST_SINGLE]]
    }
    return min(((_when(state, server, needed - int(free[server])), 1, (server,)) for server in near), default=None)


def _when(state: ClusterState, server: int, missing: int) -> float:
    """Time at which so many more of a server's accelerators are free."""
    if missing <= 0:
        return 0.0
    for end_s, ranks in state.occupancy.ends(server):
        missing -= ranks
        if missing <= 0:
            return end_s
    return inf


def _several(state: ClusterState, kind: JobClass, working: Ints) -> Choice | None:
    """Whole servers of one rack, those that are clear first, until the parts of the job fit on them."""
    if all(row.shape.racks > 1 for row in kind.rows):
        return None
    if kind.rows[0].shape.servers_by_rack is not None and state.free.cluster.fabric.links_racks:
        return _several_by_rack(state, kind.rows[0].shape, working)
    racks, part = np.array(state.free.state.together), kind.parts[0]
    fits, clear_s = np.minimum(working // part, 1 if kind.is_even else kind.held)[racks], state.occupancy.clear_s[racks]
    order = np.lexsort((-working[racks], clear_s, fits == 0))
    clear_s, racks = np.take_along_axis(clear_s, order, 1), np.take_along_axis(racks, order, 1)
    is_enough = np.take_along_axis(fits, order, 1).cumsum(axis=1) * part >= kind.held
    able = np.flatnonzero(is_enough[:, -1])
    if not len(able):
        return None
    last = is_enough.argmax(axis=1)
    at_s, count, rack = min((float(clear_s[rack, last[rack]]), int(last[rack]) + 1, int(rack)) for rack in able)
    return at_s, count, tuple(sorted(racks[rack, :count].tolist()))


def _several_by_rack(state: ClusterState, demand: Demand, working: Ints) -> Choice | None:
    """Whole servers, those that are clear first, of racks that give the numbers asked for."""
    fabric, clear_s, size = state.free.cluster.fabric, state.occupancy.clear_s, demand.part
    order = sorted(np.flatnonzero(working >= size).tolist(), key=lambda server: (clear_s[server], server))

    def chosen(count: int) -> list[int]:
        racks = with_room([*(working >= size)], order[:count], fabric)
        given = shared(demand, [len(rack) for rack in racks]) or ()
        return [server for rack, number in zip(racks, given, strict=False) for server in rack[:number]]

    count = bisect_left(range(len(order) + 1), True, key=lambda number: bool(chosen(number)))
    servers = tuple(sorted(chosen(count)))
    return (max(float(clear_s[server]) for server in servers), len(servers), servers) if servers else None


def _over_racks(state: ClusterState, kind: JobClass, working: Ints) -> Choice | None:
    """Whole racks, those that are clear first, where a job fits in equal parts that working links can join."""
    upper, racks = state.free.cluster.fabric.upper_layer, state.free.state.together
    if upper is None or not kind.over_racks:
        return None
    links = RackLinks(state.free.cluster, upper)
    clear_s = [float(state.occupancy.clear_s[servers[0] : servers[-1] + 1].max()) for servers in racks]
    found: list[Choice] = []
    for demand in {(row.shape.racks, row.shape.part, row.shape.links): row.shape for row in kind.over_racks}.values():
        parts, most = demand.in_rack.num_parts, demand.in_rack.most_parts
        fits = [int(np.minimum(working[list(servers)] // demand.part, most).sum()) for servers in racks]
        able = sorted((clear_s[rack], rack) for rack, number in enumerate(fits) if number >= parts)
        chosen = (sorted(rack for _, rack in each) for each in combinations(able, demand.racks))
        first = next((each for each in islice(chosen, MOST_CHOICES) if links.fits(demand, each)), None)
        if first is not None:
            servers = tuple(s for rack in first for s in racks[rack] if s not in state.drained)
            found.append((max(clear_s[rack] for rack in first), len(servers), servers))
    return min(found, default=None)


def _whole_rack(state: ClusterState, kind: JobClass) -> Choice | None:
    """All of a rack, or of all racks, the first that is clear, where fewer servers were of no use: what has failed
    beside accelerators may leave too little on the fewest that have enough of these."""
    working, clear_s = state.free.able(kind), state.occupancy.clear_s
    racks = [[s for s in servers if working[s] and s not in state.drained] for servers in state.free.state.together]
    wide = [[s for servers in racks for s in servers]] if kind.over_racks else []
    able = [servers for servers in (*racks, *wide) if sum(working[s] for s in servers) >= kind.held]
    left = [servers for servers in map(tuple, able) if servers not in state.useless]
    return min(((max(float(clear_s[s]) for s in each), len(each), each) for each in left), default=None)


def may_enter(kept: Reserve, entry: Entry, now_s: float) -> bool:
    """True if a job may stand on servers that are kept for another: it will have left them in time."""
    limit_s = entry.request.duration_s
    return kept.at_s is not None and limit_s is not None and now_s + limit_s <= kept.at_s


def is_ready(state: ClusterState, kind: JobClass) -> bool:
    """True if what is kept is free: enough of one server, or all of several."""
    kept, free_state = state.ledger.reserved.servers, state.free.state
    if (
        len(kept) == 1
        and not free_state.has_pool
        and kind.held <= (free_state.any if kind.held == 1 else free_state.lit)[kept[0]]
    ):
        return True
    return bool(kept) and not any(state.on(server) for server in kept)
