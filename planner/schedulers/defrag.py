"""Running jobs change places so that a waiting one finds room: the fewest ranks, and only where that pays."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from planner.replay.kinds import Kind
from planner.replay.rescue import rescue
from planner.replay.runs import Run
from planner.replay.state import Placement
from planner.schedulers.board import Found
from planner.schedulers.floor import Floor
from planner.schedulers.reservation import reserve
from planner.schedulers.state import Entry


def make_room(floor: Floor, entry: Entry, kind: Kind, shut: frozenset[int], deadline_s: float) -> bool:
    """Start a job that finds no place by moving others, on servers that are not shut; False, and nothing has changed,
    where that fails or costs more than waiting."""
    state = floor.board.state
    kind = replace(kind, rows=tuple(row for row in kind.rows if row.shape.num_ranks == kind.held))
    if kind.held > state.num_free:
        return False
    able = [other for other in floor.running() if other.request.movable and len(_servers(other)) == 1]
    runs = [Run(number, kind, floor.board.held[other.name]) for number, other in enumerate(able)]
    before = [run.placement for run in runs]
    found = rescue(state, kind, runs, _racks(floor, shut, deadline_s))
    if found is None:
        return False
    placement, moved = found
    exchange = [(able[run.job], before[run.job], place) for run, place in moved]
    return _agreed(floor, entry, kind, placement, exchange)


def _servers(entry: Entry) -> tuple[int, ...]:
    assert entry.place is not None
    return entry.place.servers


def _racks(floor: Floor, shut: frozenset[int], deadline_s: float) -> Iterator[Sequence[int]]:
    """Servers that are open, rack by rack, the rack with the most free accelerators first, until time is up."""
    state = floor.board.state
    racks = [[server for server in servers if server not in shut] for servers in state.together]
    for servers in sorted(racks, key=lambda servers: -sum(state.lit[server] for server in servers)):
        if time.perf_counter() > deadline_s:
            return
        yield servers


def gain_s(floor: Floor, entry: Entry, kind: Kind) -> float:
    """Accelerator-seconds that starting now saves: until running jobs, by their limits, have left room anyway."""
    kept = reserve(floor, entry, kind)
    at_s = kept.at_s if kept is not None else None
    wait_s = floor.settings.expected_wait_s if at_s is None else at_s - floor.now_s
    return wait_s * kind.held


def _agreed(
    floor: Floor, entry: Entry, kind: Kind, placement: Placement, moved: list[tuple[Entry, Placement, Placement]]
) -> bool:
    """Carry out what a search proposes, if it pays and the guard agrees with each part; else put all back."""
    board = floor.board
    cost_s = floor.settings.downtime_s * sum(len(place.devices) for _, _, place in moved)
    names = [other.name for other, _, _ in moved]
    found = board.wired(entry.kind, placement)
    exchange = [(other, before, board.wired(other.kind, place)) for other, before, place in moved]
    wired = [found, *(new for _, _, new in exchange)]
    is_good = cost_s < gain_s(floor, entry, kind) and all(each.place is not None for each in wired)
    if is_good:
        is_good = not any(
            each.place is None or floor.guard.objection(job.request, each.place, [*names, entry.name])
            for job, each in zip((entry, *(other for other, _, _ in moved)), wired, strict=True)
        )
    if not is_good or not _are_apart(wired):
        _put_back(floor, wired, moved)
        return False
    for other, _, new in exchange:
        assert new.placement is not None
        assert new.place is not None
        floor.move(other, new.placement, new.place, f"{entry.name} finds room where it was")
    floor.counts.moves += len(moved)
    floor.counts.rescued += 1
    return floor.start(entry, found)


def _are_apart(wired: Sequence[Found]) -> bool:
    """Whether new places share no accelerator and no light among themselves: the guard has seen each alone."""
    devices = [device for each in wired if each.place is not None for device in each.place.devices]
    light: dict[object, int] = {}
    for each in wired:
        if each.place is None:
            return False
        servers = each.place.servers
        for (a, b, index), mask in each.place.wiring.beams:
            fiber = servers[a], servers[b], index
            if light.get(fiber, 0) & mask:
                return False
            light[fiber] = light.get(fiber, 0) | mask
    return len(set(devices)) == len(devices)


def _put_back(floor: Floor, wired: Sequence[Found], moved: list[tuple[Entry, Placement, Placement]]) -> None:
    for each in wired:
        if each.placement is not None:
            floor.board.state.release(each.placement)
    for _, before, _ in moved:
        floor.board.state.take(before)
