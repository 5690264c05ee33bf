"""Devices on rails that a running job takes beside those that it has: one block a server, all on the same rails."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import inf

from planner.fabrics.added_devices import BegunParts
from planner.fabrics.added_servers import added_by_rack
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.fabrics.search import require_time

MOST_CHOICES = 5_000
"""choices of rails that are tried: more than there are with 14 accelerators in a server"""


def grown_on_rails(
    rails: FreeRails,
    demand: Demand,
    held: BegunParts,
    lit: Sequence[int],
    barred: frozenset[int],
    deadline_s: float = inf,
) -> Iterator[list[Device]]:
    """Devices by rank of a job with circuits whose first ranks keep theirs. `lit` are masks of free devices with a
    port, by server, those of the job among them; on the servers with the fewest free ones of those that are able.
    OutOfTimeError after `deadline_s`."""
    if len(set(held.servers)) < len(held.servers) or len(held.servers) > demand.num_blocks:
        return
    last = held.servers[-1]
    for chosen in _choices(rails, demand, held, lit[last]):
        require_time(deadline_s)
        mask = sum(1 << rail for rail in chosen)
        able = [s for s, free in enumerate(lit) if free & mask == mask and s not in barred and s not in held.servers]
        others = _others(rails, demand, held, sorted(able, key=lambda s: (lit[s].bit_count(), s)))
        if others is not None and (not held.missing or (last not in barred and lit[last] & mask == mask)):
            filled = [(last, rail) for rail in chosen[demand.block - held.missing :]]
            yield [*held.devices, *filled, *((server, rail) for server in others for rail in chosen)]


def _choices(rails: FreeRails, demand: Demand, held: BegunParts, free: int) -> Iterator[tuple[int, ...]]:
    """Rails of a block: those of the ranks that stay, in their order, and then any others that are free on the server
    of the last one, where none of its blocks is whole."""
    slots, size, able = [slot for _, slot in held.devices], demand.block, rails.with_switches(demand.num_ports)
    first = tuple(slots[:size])
    if not set(first) <= set(able) or any(slot != first[i % size] for i, slot in enumerate(slots)):
        return
    others = (rail for rail in able if free >> rail & 1 and rail not in first)
    yield from ((*first, *more) for more in islice(combinations(others, size - len(first)), MOST_CHOICES))


def _others(rails: FreeRails, demand: Demand, held: BegunParts, able: Sequence[int]) -> list[int] | None:
    """The first servers that give the blocks that are not begun; None where they are too few."""
    missing = demand.num_blocks - len(held.servers)
    if demand.servers_by_rack is None:
        return [*able[:missing]] if len(able) >= missing else None
    found = next(added_by_rack(demand.servers_by_rack, missing, held.servers, able, rails.fabric.rack_of), None)
    return None if found is None else [server for server, _ in found]
