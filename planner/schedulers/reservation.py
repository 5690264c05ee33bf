"""Servers that are kept for the first waiting job, so that jobs behind it never delay it for good.

What is kept are whole servers, or one server of which enough accelerators will be free. Once all their jobs have left,
nothing of others is on them, nor on the fibers between them. A job behind may enter them only if it ends, by its limit,
before they are needed; once that time has passed none may. So the first job starts at the latest when the last of the
jobs that stand there ends: if jobs keep their limits, by the reserved time.
"""

from collections.abc import Sequence
from math import inf

from planner.replay.kinds import Kind
from planner.schedulers.decisions import Reserve
from planner.schedulers.floor import Floor
from planner.schedulers.state import Entry

MOST_SINGLE = 16
"""servers of either sort, emptiest and first empty, that are looked at for a job of one server"""
Choice = tuple[float, int, tuple[int, ...]]
"""(when it is free, servers, which)"""


def reserve(floor: Floor, entry: Entry, kind: Kind) -> Reserve | None:
    """Servers that are free the earliest, by the limits of running jobs; None where working ones never suffice."""
    best: Choice | None = None
    shut = floor.drained | floor.void
    for servers in floor.board.state.together:
        usable = [server for server in servers if server not in shut] if shut else servers
        for found in (_one(floor, kind, usable), _several(floor, kind, usable)):
            if found is not None and (best is None or found < best):
                best = found
                break
    if best is None:
        return None
    at_s = None if best[0] == inf else max(best[0], floor.now_s)
    return Reserve(entry.name, best[2], at_s)


def _one(floor: Floor, kind: Kind, servers: Sequence[int]) -> Choice | None:
    """One server, as soon as enough of it is free."""
    state, needed = floor.board.state, kind.held
    if needed > state.per_server or all(row.needs_rails for row in kind.rows):
        return None
    free, working = (state.any if needed == 1 else state.lit), floor.board.working
    able = [server for server in servers if working[server] >= needed]
    near = sorted(able, key=lambda server: (-free[server], server))[:MOST_SINGLE]
    near += sorted(able, key=lambda server: (floor.clear_s(server), server))[:MOST_SINGLE]
    return min(((_when(floor, server, needed - free[server]), 1, (server,)) for server in near), default=None)


def _when(floor: Floor, server: int, missing: int) -> float:
    """When so many more of a server's accelerators are free."""
    jobs = floor.ledger.jobs
    for end_s, ranks in sorted((jobs[name].end_s, ranks) for name, ranks in floor.on(server).items()):
        if missing <= 0:
            return max(end_s, 0.0)
        missing -= ranks
        if missing <= 0:
            return end_s
    return 0.0 if missing <= 0 else inf


def _several(floor: Floor, kind: Kind, servers: Sequence[int]) -> Choice | None:
    """Whole servers, those that are clear first, until the parts of the job fit on them."""
    part = min(row.shape.part for row in kind.rows)
    needed, working = -(-kind.held // part), floor.board.working
    chosen: list[int] = []
    at_s = 0.0
    for clear_s, _, server in sorted((floor.clear_s(server), -working[server], server) for server in servers):
        if working[server] < part:
            continue
        chosen.append(server)
        at_s, needed = clear_s, needed - working[server] // part
        if needed <= 0:
            return at_s, len(chosen), tuple(sorted(chosen))
    return None


def may_enter(floor: Floor, entry: Entry) -> bool:
    """Whether a job may stand on servers that are kept for another: it will have left them in time."""
    at_s, limit_s = floor.ledger.reserved.at_s, entry.request.duration_s
    return at_s is not None and limit_s is not None and floor.now_s + limit_s <= at_s


def is_ready(floor: Floor, kind: Kind) -> bool:
    """Whether what is kept is free: enough of one server, or all of several."""
    kept, state = floor.ledger.reserved.servers, floor.board.state
    if len(kept) == 1 and kind.held <= (state.any if kind.held == 1 else state.lit)[kept[0]]:
        return True
    return bool(kept) and not any(floor.on(server) for server in kept)
