"""What a job lacks in racks with pooled memory: free units of memory, or ports of trays."""

from collections.abc import Sequence

from planner.candidates.expand import list_options
from planner.fabrics.free_state import FreeState
from planner.fabrics.shortages import Shortages
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.sipam.server_pool import FreeServer
from planner.model.edit import with_job
from planner.model.instance import Instance
from planner.model.phrases import accelerators


class SipamShortages(Shortages):
    """Memory units, or ports of the trays of a server."""

    def counted(self, instance: Instance, name: str, size: int) -> str | None:
        """How many memory units, or ports of trays, are free beside the residents where the job needs more.

        What it needs is the least of all its ways to run. None where memory is not what it lacks, or not that alone.
        """
        fabric = instance.cluster.fabric
        state = FreeState.beside_residents(instance)
        assert isinstance(state, PoolFreeState)
        pool = state.pool
        demands = list_options(instance, with_job(instance, name, accelerators=size).job(name)).shapes
        ways = [(demand.block, PoolDemand.of(demand)) for demand in demands]
        racks = [pool.racks[first : first + fabric.servers] for first in range(0, fabric.num_servers, fabric.servers)]
        units = size * min(demand.units for _, demand in ways)
        free = max(sum(server.num_units for server in rack) for rack in racks)
        if units > free:
            return f"needs {units} memory units, {free} are free"
        if any(_most_ranks(rack, *way) >= size for way in ways for rack in racks):
            return None
        block, demand = min(ways, key=lambda way: (way[0] * way[1].units, way[0] * way[1].memory_io))
        most_units = max(server.num_units for server in pool.racks)
        most_ports = max(sum(map(server.num_ports, server.ports)) for server in pool.racks)
        needs = f"{block * demand.units} memory units over {block * demand.memory_io} ports of its trays"
        return f"{accelerators(block)} in one server: {needs}; most free in a server are {most_units} and {most_ports}"


def _most_ranks(rack: Sequence[FreeServer], block: int, demand: PoolDemand) -> int:
    """Ranks that find memory, in whole blocks, units and ports each for itself."""
    return block * sum(server.room(demand) // block for server in rack)
