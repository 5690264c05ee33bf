"""What a job lacks in racks with pooled memory: free units of memory, or ports of trays."""

from collections.abc import Sequence

from costmodel.fabrics import Sipam
from planner.candidates.expand import list_options
from planner.explain.words import accelerators
from planner.fabrics.sipam.demand import PoolDemand, pool_demand
from planner.fabrics.sipam.free_pool import FreePool
from planner.fabrics.sipam.server_pool import FreeServer
from planner.model.instance import Instance
from planner.model.ranked_assignment import plan_of_residents
from planner.whatif.edit import with_job


def why_no_units(instance: Instance, name: str, size: int) -> str | None:
    """How many memory units, or ports of trays, are free beside the residents where the job needs more.

    What it needs is the least of all its ways to run. None where memory is not what it lacks, or not that alone.
    """
    fabric = instance.cluster.fabric
    if not isinstance(fabric, Sipam):
        return None
    pool = FreePool(instance.cluster)
    for assignment in plan_of_residents(instance).assignments:
        pool.take(assignment)
    shapes = list_options(instance, with_job(instance, name, accelerators=size).job(name)).shapes
    ways = [(shape.block, pool_demand(shape)) for shape in shapes]
    zones = [pool.racks[first : first + fabric.servers] for first in range(0, fabric.num_servers, fabric.servers)]
    units = size * min(demand.units for _, demand in ways)
    free = max(sum(rack.num_units for rack in zone) for zone in zones)
    if units > free:
        return f"needs {units} memory units, {free} are free"
    if any(_most_ranks(zone, *way) >= size for way in ways for zone in zones):
        return None
    block, demand = min(ways, key=lambda way: (way[0] * way[1].units, way[0] * way[1].memory_io))
    most_units = max(rack.num_units for rack in pool.racks)
    most_ports = max(sum(map(rack.num_ports, rack.ports)) for rack in pool.racks)
    asks = f"{block * demand.units} memory units over {block * demand.memory_io} ports of its trays"
    return f"{accelerators(block)} in one server: {asks}; most free in a server are {most_units} and {most_ports}"


def _most_ranks(zone: Sequence[FreeServer], block: int, demand: PoolDemand) -> int:
    """Ranks that find memory, in whole blocks, units and ports each for itself."""
    return block * sum(rack.room(demand) // block for rack in zone)
