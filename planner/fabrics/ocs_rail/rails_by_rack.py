"""Servers with rails in common for a job with circuits that asks for so many servers of each rack."""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from planner.fabrics.asked_racks import shared, with_room
from planner.fabrics.demand import Demand
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.fabrics.search import Blocks

MOST_CHOICES = 5_000
"""choices of rails that are tried: more than there are with 14 accelerators in a server"""


def on_rails_by_rack(rails: FreeRails, demand: Demand, lit: Sequence[int]) -> Iterator[Blocks]:
    """Servers with one block each, on the choice of rails that the fewest servers have free of those that do; of each
    rack the servers with the fewest free rails. `lit` are masks of free devices with a port, by server."""
    best: tuple[int, Blocks] | None = None
    chosen = combinations(rails.with_switches(demand.num_ports), demand.block)
    for mask in (sum(1 << rail for rail in each) for each in islice(chosen, MOST_CHOICES)):
        able = [slots & mask == mask for slots in lit]
        if best is None or demand.num_blocks <= sum(able) < best[0]:
            found = _by_rack(rails, demand, able, lit)
            best = best if found is None else (sum(able), found)
    if best is not None:
        yield best[1]


def _by_rack(rails: FreeRails, demand: Demand, able: Sequence[bool], lit: Sequence[int]) -> Blocks | None:
    """One block on each server; None where racks have too few that are able."""
    racks = with_room(able, range(len(able)), rails.fabric)
    given = shared(demand, [len(rack) for rack in racks])
    if given is None:
        return None
    tightest = (sorted(rack, key=lambda server: lit[server].bit_count()) for rack in racks)
    return sorted((server, 1) for rack, number in zip(tightest, given, strict=True) for server in rack[:number])
