"""What a job lacks in racks with pooled memory: free units of memory, ports of trays, or links between racks."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from planner.candidates.expand import list_options
from planner.fabrics.free_state import FreeState
from planner.fabrics.joined_racks import more_links
from planner.fabrics.shortages import Lifted, Shortages
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.sipam.server_pool import FreeServer
from planner.model.edit import with_job
from planner.model.instance import Instance
from planner.model.phrases import accelerators


class WayInRack(NamedTuple):
    """What a job asks for in each of its racks."""

    racks: int
    ranks: int
    block: int
    demand: PoolDemand


class SipamShortages(Shortages):
    """Memory units, or ports of the trays of a server; links between racks."""

    def counted(self, instance: Instance, name: str, size: int) -> str | None:
        """How many memory units, ports of trays, or links between racks, are free beside the residents where the job
        needs more.

        What it needs is the least of all its ways to run. None where none of these is what it lacks, or not that alone.
        """
        return _memory(instance, name, size) or more_links.counted(instance, name, size)

    def lifted(self, instance: Instance) -> Iterator[Lifted]:
        yield from more_links.lifted(instance)


def _memory(instance: Instance, name: str, size: int) -> str | None:
    fabric = instance.cluster.fabric
    state = FreeState.beside_residents(instance)
    assert isinstance(state, PoolFreeState)
    pool = state.pool
    demands = list_options(instance, with_job(instance, name, accelerators=size).job(name)).shapes
    ways = [WayInRack(d.racks, d.in_rack.num_ranks, d.block, PoolDemand.of(d)) for d in demands]
    racks = [pool.racks[first : first + fabric.servers] for first in range(0, fabric.num_servers, fabric.servers)]
    units = min(way.ranks * way.demand.units for way in ways)
    free = max(sum(server.num_units for server in rack) for rack in racks)
    if units > free:
        where = " in a rack" if fabric.upper_layer is not None else ""
        return f"needs {units} memory units{where}, {free} are free"
    if any(sum(_most_ranks(rack, way) >= way.ranks for rack in racks) >= way.racks for way in ways):
        return None
    least = min(ways, key=lambda way: (way.block * way.demand.units, way.block * way.demand.memory_io))
    most_units = max(server.num_units for server in pool.racks)
    most_ports = max(sum(map(server.num_ports, server.ports)) for server in pool.racks)
    block, demand = least.block, least.demand
    needs = f"{block * demand.units} memory units over {block * demand.memory_io} ports of its trays"
    return f"{accelerators(block)} in one server: {needs}; most free in a server are {most_units} and {most_ports}"


def _most_ranks(rack: Sequence[FreeServer], way: WayInRack) -> int:
    """Ranks that find memory, in whole blocks, units and ports each for itself."""
    return way.block * sum(server.room(way.demand) // way.block for server in rack)
