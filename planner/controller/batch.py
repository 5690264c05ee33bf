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
from planner.controller.queue_depth import within_quota
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


def start_batch(state: ClusterState, names: frozenset[str], deadline_s: float) -> tuple[bool, frozenset[str]]:
    """Start jobs of a batch as a whole: whether any did so, and those whose turn has not come yet.

    Nothing has changed where one after the other is as good.
    """
    free_state = state.free.state
    if not free_state.servers_are_counts:
        return False, frozenset()
    jobs = _batch_jobs(state, names)
    later = names.difference(job.entry.name for job in jobs)
    value, started = _one_by_one(state, jobs, deadline_s)
    while time.perf_counter() < deadline_s:
        if all(started.get(g.entry.name, 0.0) >= max((w.value for w in g.ways), default=0.0) for g in jobs):
            break
        servers = _batch_servers(state, jobs, started)
        plan = servers.model.solve(deadline_s - time.perf_counter())
        if plan is None:
            break
        last = min((g.level for n, g in enumerate(jobs) if g.ways and n not in plan.starts), default=jobs[-1].level)
        if jobs[-1].level == last:
            before = {level: gained for level, gained in value.items() if level <= last}
            return _carried_out(state, jobs, servers, plan, before, deadline_s), later
        later |= {job.entry.name for job in jobs if job.level > last}
        jobs = [job for job in jobs if job.level <= last]
    return False, later


def _carried_out(
    state: ClusterState,
    jobs: Sequence[BatchJob],
    servers: BatchServers,
    plan: BatchPlan | None,
    before: Value,
    deadline_s: float,
) -> bool:
    """Carry out a plan, or another if its light is short, that is better than what was `before`."""
    for _ in range(MOST_TRIES):
        if plan is None or not _is_better(_value(jobs, plan), before):
            return False
        proposal, reached = _taken(state, jobs, plan, servers)
        if proposal is not None and _agreed(state, proposal, is_better=_is_better(reached, before)):
            return True
        servers.model.refuse(plan)
        plan = servers.model.solve(deadline_s - time.perf_counter())
    return False


def _batch_jobs(state: ClusterState, names: Iterable[str]) -> list[BatchJob]:
    """The first jobs of a batch in the order of the queue; those behind the job with reserved room leave it alone."""
    reserved, line, now_s = state.ledger.reserved, state.queue, state.now_s
    entries = sorted((state.ledger.jobs[n] for n in names if n in line), key=lambda e: line.rank(e, now_s))
    head = state.ledger.growths.get(reserved.job or "") or state.ledger.jobs.get(reserved.job or "")
    first = line.rank(head, now_s) if head is not None and head.place is None else None
    found = []
    for entry in entries[:MOST_JOBS]:
        is_first = first is None or line.rank(entry, now_s) < first
        is_free = is_first or may_enter(reserved, entry, now_s)
        barred = state.drained if is_free else state.drained | frozenset(reserved.servers)
        level = -float(entry.request.priority), state.ledger.tenants.burden(entry.request.tenant, now_s)
        kind = state.kind(entry) if is_first else within_quota(state, entry, state.kind(entry), reserved)
        found.append(BatchJob(entry, level, is_first, barred, _ways(kind, entry.request.weight)))
    return found


def _ways(kind: JobClass, weight: float) -> dict[Way, tuple[Option, ...]]:
    """Ways to run a job of this weight, the most valuable first, each with its rows by value."""
    rows: dict[tuple[int, ...], list[Option]] = {}
    for row in kind.rows:
        if row.shape.racks == 1 and not row.shape.chooses_servers:
            shape = row.shape
            rows.setdefault((shape.part, shape.num_parts, shape.is_even, row.sets_circuits), []).append(row)
    ways = {}
    for (part, parts, is_even, has_ports), listed in list(rows.items())[:MOST_WAYS]:
        value = weight * float(listed[0].options.value[listed[0].number])
        most, ports = 1 if is_even else parts, part * parts if has_ports else 0
        way = Way(part, parts, most, ports, value, listed[0].shape.servers_by_rack)
        ways[way] = tuple(listed[:MOST_ROWS])
    return ways


def _one_by_one(state: ClusterState, jobs: Sequence[BatchJob], deadline_s: float) -> tuple[Value, dict[str, float]]:
    """Places found for one job after the other, given back: value by level, and of each job that starts.

    Where the first of them finds no place room is kept for it.
    """
    taken: list[Placement] = []
    kept: frozenset[int] = frozenset()
    left: dict[str, tuple[int, int]] = {}
    value, started = Value(), dict[str, float]()
    for job in jobs:
        entry, tenant = job.entry, job.entry.request.tenant
        accelerators, ports = left.setdefault(tenant, state.ledger.tenants.left(tenant))
        kind = state.ledger.kinds.limited(entry.kind, accelerators, ports)
        if not kind.rows:
            continue
        found = state.free.find(entry.kind, kind, job.barred | kept, deadline_s)
        if found.placement is None or found.place is None:
            if job.is_first and not kept and (room := reserve(state, entry, kind)) is not None:
                kept = frozenset(room.servers)
            continue
        taken.append(found.placement)
        place, row = found.place, found.place.row
        left[tenant] = accelerators - len(place.devices), ports - place.num_ports
        started[entry.name] = entry.request.weight * float(row.options.value[row.number])
        value[job.level] = value.get(job.level, 0.0) + started[entry.name]
    for placement in taken:
        state.free.state.release(placement)
    return value, started


def _is_better(new: Value, old: Value) -> bool:
    """True if more value comes of the first level where they differ."""
    for level in sorted({*new, *old}):
        gained = difference(new.get(level, 0.0), old.get(level, 0.0))
        if gained:
            return gained > 0
    return False


def _value(jobs: Sequence[BatchJob], plan: BatchPlan) -> Value:
    value = Value()
    for number, (way, _) in plan.starts.items():
        level = jobs[number].level
        value[level] = value.get(level, 0.0) + way.value
    return value


def _batch_servers(state: ClusterState, jobs: Sequence[BatchJob], started: dict[str, float]) -> BatchServers:
    free_state, moves = state.free.state, state.settings.moves
    every = [server for servers in free_state.together for server in servers if server not in state.drained]
    near = sorted(sorted(every, key=lambda s: (-free_state.lit[s], s))[:MOST_SERVERS])
    number = {server: i for i, server in enumerate(near)}
    running = _movable(state, near) if moves else {}
    room = RoomProblem(
        tuple(free_state.lit[s] for s in near),
        tuple(sorted((number[s], ranks, len(entries)) for (s, ranks), entries in running.items())),
    )
    levels = {level: i for i, level in enumerate(sorted({job.level for job in jobs}))}
    tenants = list(dict.fromkeys(job.entry.request.tenant for job in jobs))
    gains = [int(min(gain_s(state, g.entry, state.kind(g.entry)), 1e9)) if moves and g.ways else 0 for g in jobs]
    entrants = [
        Entrant(
            tuple(g.ways), levels[g.level], tenants.index(g.entry.request.tenant),
            frozenset(i for s, i in number.items() if s not in g.barred), gain,
        )
        for g, gain in zip(jobs, gains, strict=True)
    ]  # fmt: skip
    batch_room = BatchRoom(
        room=room,
        together=tuple(tuple(number[s] for s in servers if s in number) for servers in free_state.together),
        entered=frozenset(i for s, i in number.items() if s not in state.ledger.reserved.servers),
        quotas=tuple((min(a, MOST), min(p, MOST)) for a, p in map(state.ledger.tenants.left, tenants)),
        downtime_s=int(state.settings.downtime_s) + 1,
        gained_s=sum(gain for g, gain in zip(jobs, gains, strict=True) if g.entry.name in started),
        racks=tuple(map(state.free.cluster.fabric.rack_of, near)),
    )
    return BatchServers(near, running, BatchModel(batch_room, entrants))


def _movable(state: ClusterState, near: Sequence[int]) -> dict[tuple[int, int], list[Entry]]:
    """Running jobs that may move, each in one server on accelerators with a port, by server and ranks."""
    dark, found = state.free.cluster.dark_devices, dict[tuple[int, int], list[Entry]]()
    for server in near:
        for name, ranks in state.on(server).items():
            entry = state.ledger.jobs[name]
            held = state.free.held[name].held
            if entry.request.movable and len(held) == ranks and dark.isdisjoint(held):
                found.setdefault((server, ranks), []).append(entry)
    return found


def _taken(
    state: ClusterState, jobs: Sequence[BatchJob], plan: BatchPlan, servers: BatchServers
) -> tuple[Proposal | None, Value]:
    """Take what a plan says, and the value of it; None, and all is as before, where light is short."""
    free_state, near = state.free.state, servers.near
    staying = {key: list(entries) for key, entries in servers.running.items()}
    moving: list[tuple[Entry, Placement, int]] = []
    for (origin, ranks, other), count in sorted(plan.moves.items()):
        for _ in range(count):
            entry = staying[near[origin], ranks].pop(0)
            moving.append((entry, state.free.held[entry.name], near[other]))
    for _, before, _ in moving:
        free_state.release(before)
    proposal, value = Proposal([], []), Value()
    for number, (way, where) in sorted(plan.starts.items()):
        job, blocks = jobs[number], [(near[i], count) for i, count in where]
        placement = next(filter(None, (free_state.realize(row, blocks) for row in job.ways[way])), None)
        if placement is None:
            break
        free_state.take(placement)
        proposal.starts.append((job.entry, placement))
        gained = job.entry.request.weight * float(placement.row.options.value[placement.row.number])
        value[job.level] = value.get(job.level, 0.0) + gained
    for entry, before, server in moving if len(proposal.starts) == len(plan.starts) else ():
        placement = free_state.realize(before.row, [(server, before.row.shape.num_parts)])
        if placement is None:
            break
        free_state.take(placement)
        proposal.moves.append((entry, before, placement))
    if len(proposal.starts) == len(plan.starts) and len(proposal.moves) == len(moving):
        return proposal, value
    for placement in (*(p for _, p in proposal.starts), *(p for _, _, p in proposal.moves)):
        free_state.release(placement)
    for _, before, _ in moving:
        free_state.take(before)
    return None, value


def _agreed(state: ClusterState, proposal: Proposal, *, is_better: bool) -> bool:
    """Carry out a proposal if it is better and the validator agrees with each part of it; else put all back."""
    free = state.free
    starts = [(entry, free.named(entry.kind, placement)) for entry, placement in proposal.starts]
    moves = [(entry, free.named(entry.kind, placement)) for entry, _, placement in proposal.moves]
    wired: list[Found] = [found for _, found in (*starts, *moves)]
    leaving = [entry.name for entry, _ in (*starts, *moves)]
    is_good = is_better and are_apart(wired)
    if not is_good or any(
        found.place is None or state.validator.objection(entry.request, found.place, leaving) is not None
        for entry, found in (*starts, *moves)
    ):
        put_back(state, wired, proposal.moves)
        return False
    for entry, found in moves:
        assert found.placement is not None
        assert found.place is not None
        state.move(entry, found.placement, found.place, "jobs that arrived together find room where it was")
    for entry, found in starts:
        state.start(entry, found)
    state.counts.joint += len(starts)
    state.counts.moves += len(moves)
    return True
