"""A job that lost a part stays where it is but for what failed: the same configuration, its other devices kept."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import Option
from planner.fabrics.placement import Placement
from planner.fabrics.search import Blocks

MOST_TRIED = 8
"""servers that take all that was lost, the tightest first"""


def keep_others(state: FreeState, old: Placement) -> Placement | None:
    """A placement, taken, that keeps the devices on servers where none failed; None where no spread tried has light.

    What was lost goes first to other devices of the same servers, then to one other server, then to several. A job over
    several racks is placed anew, whole.
    """
    if old.row.shape.racks > 1:
        return None
    blocks, hit = blocks_of(old), hit_servers(state, old)
    kept = {server: parts for server, parts in blocks.items() if server not in hit}
    lost = sum(blocks.values()) - sum(kept.values())
    room = _room(state, old, kept)
    rack = next(servers for servers in state.together if next(iter(blocks)) in servers)
    for targets in _targets(old.row, room, rack, {server: blocks[server] for server in blocks if server in hit}, kept):
        given = _fill(targets, lost)
        if given is not None:
            found = _realize(state, old, [*_merged(kept, given).items()], kept.keys() - given.keys())
            if found is not None:
                return found
    return None


def swap_servers(state: FreeState, old: Placement, swaps: Mapping[int, int]) -> Placement | None:
    """A placement, taken, with whole servers for those that failed; the devices on others are kept."""
    blocks = [(swaps.get(server, server), parts) for server, parts in blocks_of(old).items()]
    return _realize(state, old, blocks, {server for server, _ in blocks} - set(swaps.values()))


def blocks_of(old: Placement) -> dict[int, int]:
    """Parts of a job on each server, in the order of its ranks."""
    return {server: count // old.row.part for server, count in Counter(server for server, _ in old.devices).items()}


def hit_servers(state: FreeState, old: Placement) -> set[int]:
    """Servers on which a device of a job, or the port that it needs, has failed."""
    down = state.failed if len(old.devices) == 1 else state.failed | state.dark
    return {device[0] for device in old.devices if device in down}


def _room(state: FreeState, old: Placement, kept: Mapping[int, int]) -> list[int]:
    """Parts for which each server has room beside what the job keeps."""
    own = [device for device in old.held if device[0] in kept and device not in state.failed]
    state.hold(own)
    room = [*state.room(old.row.shape)]
    state.give_back(own)
    return room


def _targets(
    row: Option, room: Sequence[int], rack: Sequence[int], hit: Mapping[int, int], kept: Mapping[int, int]
) -> Iterator[list[tuple[int, int]]]:
    """Servers that may take what was lost, each with how many parts at most, the least disturbing choice first."""
    lost, most = sum(hit.values()), 1 if row.shape.is_even else sum(hit.values())
    if not lost:
        yield []
        return
    left = [(server, min(room[server], parts)) for server, parts in hit.items()]
    others = [server for server in rack if server not in hit and not (server in kept and row.shape.is_even)]
    others = sorted((server for server in others if room[server]), key=lambda server: (room[server], server))
    yield left
    yield from ([(server, most)] for server in [s for s in others if min(room[s], most) >= lost][:MOST_TRIED])
    widest = [(server, min(room[server], most)) for server in reversed(others)]
    yield [*left, *widest]
    yield widest


def _fill(targets: Sequence[tuple[int, int]], lost: int) -> dict[int, int] | None:
    """Parts on each target in turn; None where they take too few."""
    given: dict[int, int] = {}
    for server, most in targets:
        parts = min(most, lost)
        if parts:
            given[server] = parts
            lost -= parts
    return None if lost else given


def _merged(kept: Mapping[int, int], given: Mapping[int, int]) -> dict[int, int]:
    return {**kept, **{server: parts + kept.get(server, 0) for server, parts in given.items()}}


def _realize(state: FreeState, old: Placement, blocks: Blocks, same: set[int]) -> Placement | None:
    """The configuration on so many parts of each server, taken; on `same` servers on the devices that it had."""
    had = set(old.held)
    others = [
        (server, slot)
        for server in same
        for slot in range(state.per_server)
        if state.free[server] >> slot & 1 and (server, slot) not in had
    ]
    state.hold(others)
    found = state.realize(old.row, blocks)
    state.give_back(others)
    return None if found is None else state.taking(found)
