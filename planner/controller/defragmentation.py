"""Running jobs change places so that a waiting one finds room: the fewest ranks, and only where that pays."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

from planner.controller.free_state import Found
from planner.controller.ledger import Entry
from planner.controller.reservation import reserve
from planner.controller.state import ClusterState
from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement
from planner.fabrics.rack_claims import owned_between_racks
from planner.simulate.make_room import MOST_SERVERS, rescue
from planner.simulate.runs import Run


def make_room(
    state: ClusterState, entry: Entry, kind: JobClass, barred: frozenset[int], deadline_s: float, racks: Iterable[int]
) -> bool:
    """Start a job that finds no place by moving others on one of these racks, apart from barred servers; False,
    and nothing has changed, where that fails or costs more than waiting."""
    free_state = state.free.state
    near = _near(state, kind, barred, racks)
    if not near or kind.held > free_state.num_free:
        return False
    most = _most_moved(state, entry, kind)
    able = [other for other in state.running() if _may_move(other, most)]
    kind = replace(kind, rows=tuple(row for row in kind.rows if row.shape.num_ranks == kind.held))
    runs = [Run(number, kind, state.free.held[other.name]) for number, other in enumerate(able)]
    before = [run.placement for run in runs]
    found = rescue(free_state, kind, runs, near, deadline_s)
    if found is None:
        return False
    placement, moved = found
    exchange = [(able[run.job], before[run.job], place) for run, place in moved]
    return _agreed(state, entry, kind, placement, exchange)


def _may_move(entry: Entry, most_moved: float) -> bool:
    """True if a running job may move, lies in one server, and is not too large for that to pay."""
    assert entry.place is not None
    return entry.request.movable and len(entry.place.devices) <= most_moved and len(entry.place.servers) == 1


def _most_moved(state: ClusterState, entry: Entry, kind: JobClass) -> float:
    """Ranks whose downtime together costs no more than what starting now saves."""
    downtime_s = state.settings.downtime_s
    return gain_s(state, entry, kind) / downtime_s if downtime_s else inf


def _near(state: ClusterState, kind: JobClass, barred: frozenset[int], racks: Iterable[int]) -> list[Sequence[int]]:
    """Servers that are open, rack by rack, the rack with the most free accelerators first; without those whose servers
    with the most free accelerators have too few: none are gained by moving jobs among these."""
    lit, least, found = state.free.state.lit, kind.least_of_a_rack, []
    for rack in racks:
        able = [server for server in state.free.racks[rack] if server not in barred]
        if sum(sorted((lit[server] for server in able), reverse=True)[:MOST_SERVERS]) >= least:
            found.append((-sum(lit[server] for server in able), able))
    return [able for _, able in sorted(found)]


def gain_s(state: ClusterState, entry: Entry, kind: JobClass) -> float:
    """Accelerator-seconds that starting now saves: until running jobs, by their limits, have left room anyway."""
    kept = reserve(state, entry, kind)
    at_s = kept.at_s if kept is not None else None
    wait_s = state.settings.expected_wait_s if at_s is None else at_s - state.now_s
    return wait_s * kind.held


def _agreed(
    state: ClusterState,
    entry: Entry,
    kind: JobClass,
    placement: Placement,
    moved: list[tuple[Entry, Placement, Placement]],
) -> bool:
    """Carry out what a search proposes, if it pays and the validator agrees with each part; else put all back."""
    free = state.free
    cost_s = state.settings.downtime_s * sum(len(place.devices) for _, _, place in moved)
    names = [other.name for other, _, _ in moved]
    found = free.named(entry.kind, placement)
    exchange = [(other, before, free.named(other.kind, place)) for other, before, place in moved]
    wired = [found, *(new for _, _, new in exchange)]
    is_good = cost_s < gain_s(state, entry, kind) and all(each.place is not None for each in wired)
    if is_good:
        is_good = not any(
            each.place is None or state.validator.objection(job.request, each.place, [*names, entry.name])
            for job, each in zip((entry, *(other for other, _, _ in moved)), wired, strict=True)
        )
    if not is_good or not are_apart(wired):
        put_back(state, wired, moved)
        return False
    for other, _, new in exchange:
        assert new.placement is not None
        assert new.place is not None
        state.move(other, new.placement, new.place, f"{entry.name} finds room where it was")
    state.counts.moves += len(moved)
    state.counts.rescued += 1
    return state.start(entry, found)


def are_apart(wired: Sequence[Found]) -> bool:
    """True if new places share no accelerator and no light among themselves: the validator has seen each alone."""
    devices = [device for each in wired if each.place is not None for device in each.place.devices]
    light: dict[object, int] = {}
    for each in wired:
        if each.place is None:
            return False
        servers = each.place.servers
        for (a, b, index), mask in each.place.wiring.fiber_masks:
            fiber = servers[a], servers[b], index
            if light.get(fiber, 0) & mask:
                return False
            light[fiber] = light.get(fiber, 0) | mask
        for part, mask in owned_between_racks(each.place.upper).items():
            if light.get(part, 0) & mask:
                return False
            light[part] = light.get(part, 0) | mask
    return len(set(devices)) == len(devices)


def put_back(state: ClusterState, wired: Sequence[Found], moved: Sequence[tuple[Entry, Placement, Placement]]) -> None:
    """Give back new placements and take those that jobs had before."""
    for each in wired:
        if each.placement is not None:
            state.free.state.release(each.placement)
    for _, before, _ in moved:
        state.free.state.take(before)
