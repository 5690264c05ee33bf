"""Running jobs change places so that a job finds room: CP-SAT says which, the state whether their light is there."""

import time
from collections.abc import Iterable, Sequence

from planner.cpsat.make_room import RoomProblem, Swap, make_room, make_room_by
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.placement import Placement
from planner.simulate.runs import Run

MOST_SERVERS = 8
"""servers that are looked at together, those with the most free devices"""
MOST_WAYS = 3
"""of the job, different in how much of it lies together"""
Guests = dict[tuple[int, int], list[Run]]
"""jobs by server and ranks"""


def rescue(
    state: FreeState,
    kind: JobClass,
    runs: Iterable[Run],
    among: Iterable[Sequence[int]] | None = None,
    deadline_s: float | None = None,
) -> tuple[Placement, list[tuple[Run, Placement]]] | None:
    """A place for a job, and new ones for those that make room, all taken; None, and nothing changes, without any.

    Jobs move that lie in one server, on devices with a port; together no more ranks than the job has. Where slots,
    slices or parts of a pool matter nothing moves. `among` gives the servers that are looked at together, all of each
    rack by default. `deadline_s`, on the clock of time.perf_counter, ends the search; without it, each model has a
    limit that does not depend on the machine.
    """
    if not state.servers_are_counts:
        return None
    listed = list(runs)
    for servers in state.together if among is None else among:
        near = sorted(sorted(servers, key=lambda s: (-state.lit[s], s))[:MOST_SERVERS])
        guests = _guests(state, near, listed)
        for row, part in _parts(state, kind):
            parts = kind.held // part
            most = 1 if row.shape.is_even else parts
            asked = _room(state, near, guests), part, parts, most, kind.held
            if deadline_s is None:
                swap = make_room(*asked)
            elif time.perf_counter() < deadline_s:
                swap = make_room_by(deadline_s, *asked)
            else:
                return None
            found = None if swap is None else _exchange(state, row, part, near, guests, swap)
            if found is not None:
                return found
    return None


def _parts(state: FreeState, kind: JobClass) -> list[tuple[Option, int]]:
    """Rows that any servers may take, each with how many devices must lie together: all that one server holds, where no
    light is needed, or the row's own parts."""
    found: dict[int, Option] = {}
    for row in kind.rows:
        if row.shape.racks == 1 and not row.shape.chooses_servers:
            if kind.held <= state.per_server and not row.shape.is_even:
                found.setdefault(kind.held, row)
            found.setdefault(row.shape.part, row)
    return [(row, part) for part, row in found.items()][:MOST_WAYS]


def _guests(state: FreeState, servers: Sequence[int], runs: Sequence[Run]) -> Guests:
    dark, guests = state.cluster.dark_devices, Guests()
    near = set(servers)
    for run in runs:
        held = run.placement.held
        server = held[0][0]
        if server in near and all(device[0] == server and device not in dark for device in held):
            guests.setdefault((server, len(held)), []).append(run)
    return guests


def _room(state: FreeState, servers: Sequence[int], guests: Guests) -> RoomProblem:
    place = {server: number for number, server in enumerate(servers)}
    return RoomProblem(
        tuple(state.lit[server] for server in servers),
        tuple(sorted((place[server], ranks, len(jobs)) for (server, ranks), jobs in guests.items())),
    )


def _exchange(
    state: FreeState, row: Option, part: int, servers: Sequence[int], guests: Guests, swap: Swap
) -> tuple[Placement, list[tuple[Run, Placement]]] | None:
    """Take what a swap says; None, and all is as before, where light is short."""
    leaving: list[tuple[Run, int]] = []
    staying = {key: list(jobs) for key, jobs in guests.items()}
    for (origin, ranks, other), number in sorted(swap.moves.items()):
        leaving += [(staying[servers[origin], ranks].pop(0), servers[other]) for _ in range(number)]
    for run, _ in leaving:
        state.release(run.placement)
    own = part // row.shape.part
    wanted = [(row, [(servers[i], own * count) for i, count in enumerate(swap.parts) if count])]
    wanted += [(run.placement.row, [(server, run.placement.row.shape.num_parts)]) for run, server in leaving]
    taken: list[Placement] = []
    for each, blocks in wanted:
        placement = state.realize(each, blocks)
        if placement is None:
            for done in taken:
                state.release(done)
            for run, _ in leaving:
                state.take(run.placement)
            return None
        state.take(placement)
        taken.append(placement)
    return taken[0], [(run, placement) for (run, _), placement in zip(leaving, taken[1:], strict=True)]
