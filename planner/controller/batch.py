"""Jobs that arrive together start together: CP-SAT says which, in which way and where, and who moves for them.

Priority goes first, then fair share, then value. What is chosen replaces what one job after the other would get only
where that is better by this order. Nobody ahead in the queue loses what is kept for it: jobs of a lower priority, or of
a tenant with more use, are looked at once all before them have a place, or room is kept for the first that has none.
"""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from planner.controller.defragmentation import are_apart, gain_s, put_back
from planner.controller.free_state import Found
from planner.controller.ledger import Entry
from planner.controller.quotas import MOST
from planner.controller.reservation import may_enter, reserve
from planner.controller.state import ClusterState
from planner.cpsat.batch import BatchModel, BatchPlan, BatchRoom, Entrant, Way
from planner.cpsat.make_room import RoomProblem
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.placement import Placement
from planner.model.result import difference

MOST_JOBS = 10
"""of a batch that are looked at together, the first in line"""
MOST_WAYS = 3
"""of a job, different in accelerators, or in how many lie together"""
MOST_SERVERS = 10
"""servers that are looked at together, those with the most free accelerators"""
MOST_TRIES = 4
"""plans whose light is tried"""
MOST_ROWS = 12
"""rows of a way whose light is tried"""
Level = tuple[float, float]
"""priority, and use over share of the tenant: the lower goes first"""
Value = dict[Level, float]


@dataclass(frozen=True)
class BatchJob:
    """A job of the batch, and what it may take."""

    entry: Entry
    level: Level
    is_first: bool
    """whether it is ahead of the job that room is kept for"""
    barred: frozenset[int]
    ways: dict[Way, tuple[Option, ...]]


@dataclass(frozen=True)
class BatchServers:
    """Servers that are looked at, running jobs that may move by (server, ranks), and the model of both."""

    near: list[int]
    running: dict[tuple[int, int], list[Entry]]
    model: BatchModel


@dataclass(frozen=True)
class Proposal:
    """Placements, all taken: of jobs that start, and before and after of those that move."""

    starts: list[tuple[Entry, Placement]]
    moves: list[tuple[Entry, Placement, Placement]]


def start_batch(floor: ClusterState, names: frozenset[str], deadline_s: float) -> tuple[bool, frozenset[str]]:
    """Start jobs of a batch as a whole: whether any did so, and those whose turn has not come yet.

    Nothing has changed where one after the other is as good.
    """
    state = floor.free.state
    if not state.servers_are_counts:
        return False, frozenset()
    guests = _guests(floor, names)
    later = names.difference(guest.entry.name for guest in guests)
    value, started = _one_by_one(floor, guests, deadline_s)
    while time.perf_counter() < deadline_s:
        if all(started.get(g.entry.name, 0.0) >= max((w.value for w in g.ways), default=0.0) for g in guests):
            break
        ground = _ground(floor, guests, started)
        plan = ground.model.solve(deadline_s - time.perf_counter())
        if plan is None:
            break
        last = min((g.level for n, g in enumerate(guests) if g.ways and n not in plan.starts), default=guests[-1].level)
        if guests[-1].level == last:
            before = {level: gained for level, gained in value.items() if level <= last}
            return _carried_out(floor, guests, ground, plan, before, deadline_s), later
        later |= {guest.entry.name for guest in guests if guest.level > last}
        guests = [guest for guest in guests if guest.level <= last]
    return False, later


def _carried_out(
    floor: ClusterState,
    guests: Sequence[BatchJob],
    ground: BatchServers,
    plan: BatchPlan | None,
    before: Value,
    deadline_s: float,
) -> bool:
    """Carry out a plan, or another if its light is short, that is better than what was `before`."""
    for _ in range(MOST_TRIES):
        if plan is None or not _is_better(_value(guests, plan), before):
            return False
        proposal, reached = _taken(floor, guests, plan, ground)
        if proposal is not None and _agreed(floor, proposal, is_better=_is_better(reached, before)):
            return True
        ground.model.refuse(plan)
        plan = ground.model.solve(deadline_s - time.perf_counter())
    return False


def _guests(floor: ClusterState, names: Iterable[str]) -> list[BatchJob]:
    """The first jobs of a batch in the order of the queue; those behind the job with reserved room leave it alone."""
    reserved, line, now_s = floor.ledger.reserved, floor.queue, floor.now_s
    entries = sorted((floor.ledger.jobs[n] for n in names if n in line), key=lambda e: line.rank(e, now_s))
    head = floor.ledger.jobs.get(reserved.job or "")
    first = line.rank(head, now_s) if head is not None and head.place is None else None
    found = []
    for entry in entries[:MOST_JOBS]:
        is_first = first is None or line.rank(entry, now_s) < first
        is_free = is_first or may_enter(floor, entry)
        barred = floor.drained if is_free else floor.drained | frozenset(reserved.servers)
        level = -float(entry.request.priority), floor.ledger.tenants.burden(entry.request.tenant, now_s)
        found.append(BatchJob(entry, level, is_first, barred, _ways(floor.kind(entry), entry.request.weight)))
    return found


def _ways(kind: JobClass, weight: float) -> dict[Way, tuple[Option, ...]]:
    """Ways to run a job of this weight, the most valuable first, each with its rows by value."""
    rows: dict[tuple[int, ...], list[Option]] = {}
    for row in kind.rows:
        if not row.shape.chooses_servers:
            shape = row.shape
            rows.setdefault((shape.part, shape.num_parts, shape.is_even, row.sets_circuits), []).append(row)
    ways = {}
    for (part, parts, is_even, has_ports), listed in list(rows.items())[:MOST_WAYS]:
        value = weight * float(listed[0].options.value[listed[0].number])
        way = Way(part, parts, 1 if is_even else parts, part * parts if has_ports else 0, value)
        ways[way] = tuple(listed[:MOST_ROWS])
    return ways


def _one_by_one(floor: ClusterState, guests: Sequence[BatchJob], deadline_s: float) -> tuple[Value, dict[str, float]]:
    """What is found for one job after the other, given back: value by level, and of each job that starts.

    Where the first of them finds no place room is kept for it.
    """
    taken: list[Placement] = []
    kept: frozenset[int] = frozenset()
    left: dict[str, tuple[int, int]] = {}
    value, started = Value(), dict[str, float]()
    for guest in guests:
        entry, tenant = guest.entry, guest.entry.request.tenant
        accelerators, ports = left.setdefault(tenant, floor.ledger.tenants.left(tenant))
        kind = floor.ledger.kinds.limited(entry.kind, accelerators, ports)
        if not kind.rows:
            continue
        found = floor.free.find(entry.kind, kind, guest.barred | kept, deadline_s)
        if found.placement is None or found.place is None:
            if guest.is_first and not kept and (room := reserve(floor, entry, kind)) is not None:
                kept = frozenset(room.servers)
            continue
        taken.append(found.placement)
        place, row = found.place, found.place.row
        left[tenant] = accelerators - len(place.devices), ports - place.num_ports
        started[entry.name] = entry.request.weight * float(row.options.value[row.number])
        value[guest.level] = value.get(guest.level, 0.0) + started[entry.name]
    for placement in taken:
        floor.free.state.release(placement)
    return value, started


def _is_better(new: Value, old: Value) -> bool:
    """True if more value comes of the first level where they differ."""
    for level in sorted({*new, *old}):
        gained = difference(new.get(level, 0.0), old.get(level, 0.0))
        if gained:
            return gained > 0
    return False


def _value(guests: Sequence[BatchJob], plan: BatchPlan) -> Value:
    value = Value()
    for number, (way, _) in plan.starts.items():
        level = guests[number].level
        value[level] = value.get(level, 0.0) + way.value
    return value


def _ground(floor: ClusterState, guests: Sequence[BatchJob], started: dict[str, float]) -> BatchServers:
    state, moves = floor.free.state, floor.settings.moves
    every = [server for servers in state.together for server in servers if server not in floor.drained]
    near = sorted(sorted(every, key=lambda s: (-state.lit[s], s))[:MOST_SERVERS])
    number = {server: i for i, server in enumerate(near)}
    running = _movable(floor, near) if moves else {}
    room = RoomProblem(
        tuple(state.lit[s] for s in near),
        tuple(sorted((number[s], ranks, len(jobs)) for (s, ranks), jobs in running.items())),
    )
    levels = {level: i for i, level in enumerate(sorted({guest.level for guest in guests}))}
    tenants = list(dict.fromkeys(guest.entry.request.tenant for guest in guests))
    gains = [int(min(gain_s(floor, g.entry, floor.kind(g.entry)), 1e9)) if moves and g.ways else 0 for g in guests]
    entrants = [
        Entrant(
            tuple(g.ways), levels[g.level], tenants.index(g.entry.request.tenant),
            frozenset(i for s, i in number.items() if s not in g.barred), gain,
        )
        for g, gain in zip(guests, gains, strict=True)
    ]  # fmt: skip
    hall = BatchRoom(
        room=room,
        together=tuple(tuple(number[s] for s in servers if s in number) for servers in state.together),
        entered=frozenset(i for s, i in number.items() if s not in floor.ledger.reserved.servers),
        quotas=tuple((min(a, MOST), min(p, MOST)) for a, p in map(floor.ledger.tenants.left, tenants)),
        downtime_s=int(floor.settings.downtime_s) + 1,
        gained_s=sum(gain for g, gain in zip(guests, gains, strict=True) if g.entry.name in started),
    )
    return BatchServers(near, running, BatchModel(hall, entrants))


def _movable(floor: ClusterState, near: Sequence[int]) -> dict[tuple[int, int], list[Entry]]:
    """Running jobs that may move, each in one server on accelerators with a port, by server and ranks."""
    dark, found = floor.free.cluster.dark_devices, dict[tuple[int, int], list[Entry]]()
    for server in near:
        for name, ranks in floor.on(server).items():
            entry = floor.ledger.jobs[name]
            held = floor.free.held[name].held
            if entry.request.movable and len(held) == ranks and dark.isdisjoint(held):
                found.setdefault((server, ranks), []).append(entry)
    return found


def _taken(
    floor: ClusterState, guests: Sequence[BatchJob], plan: BatchPlan, ground: BatchServers
) -> tuple[Proposal | None, Value]:
    """Take what a plan says, and the value of it; None, and all is as before, where light is short."""
    state, near = floor.free.state, ground.near
    staying = {key: list(jobs) for key, jobs in ground.running.items()}
    moving: list[tuple[Entry, Placement, int]] = []
    for (origin, ranks, other), count in sorted(plan.moves.items()):
        for _ in range(count):
            entry = staying[near[origin], ranks].pop(0)
            moving.append((entry, floor.free.held[entry.name], near[other]))
    for _, before, _ in moving:
        state.release(before)
    proposal, value = Proposal([], []), Value()
    for number, (way, where) in sorted(plan.starts.items()):
        guest, blocks = guests[number], [(near[i], count) for i, count in where]
        placement = next(filter(None, (state.realize(row, blocks) for row in guest.ways[way])), None)
        if placement is None:
            break
        state.take(placement)
        proposal.starts.append((guest.entry, placement))
        gained = guest.entry.request.weight * float(placement.row.options.value[placement.row.number])
        value[guest.level] = value.get(guest.level, 0.0) + gained
    for entry, before, server in moving if len(proposal.starts) == len(plan.starts) else ():
        placement = state.realize(before.row, [(server, before.row.shape.num_parts)])
        if placement is None:
            break
        state.take(placement)
        proposal.moves.append((entry, before, placement))
    if len(proposal.starts) == len(plan.starts) and len(proposal.moves) == len(moving):
        return proposal, value
    for placement in (*(p for _, p in proposal.starts), *(p for _, _, p in proposal.moves)):
        state.release(placement)
    for _, before, _ in moving:
        state.take(before)
    return None, value


def _agreed(floor: ClusterState, proposal: Proposal, *, is_better: bool) -> bool:
    """Carry out a proposal if it is better and the validator agrees with each part of it; else put all back."""
    free = floor.free
    starts = [(entry, free.named(entry.kind, placement)) for entry, placement in proposal.starts]
    moves = [(entry, free.named(entry.kind, placement)) for entry, _, placement in proposal.moves]
    wired: list[Found] = [found for _, found in (*starts, *moves)]
    leaving = [entry.name for entry, _ in (*starts, *moves)]
    is_good = is_better and are_apart(wired)
    if not is_good or any(
        found.place is None or floor.validator.objection(entry.request, found.place, leaving) is not None
        for entry, found in (*starts, *moves)
    ):
        put_back(floor, wired, proposal.moves)
        return False
    for entry, found in moves:
        assert found.placement is not None
        assert found.place is not None
        floor.move(entry, found.placement, found.place, "jobs that arrived together find room where it was")
    for entry, found in starts:
        floor.start(entry, found)
    floor.counts.joint += len(starts)
    floor.counts.moves += len(moves)
    return True
