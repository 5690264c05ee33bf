"""Why no division of the I/O suits a job in racks with pooled memory."""

from math import ceil

from costmodel.fabrics import Sipam
from costmodel.memory_pool.demand import WorkloadDemand
from planner.model.cluster import Cluster
from planner.model.job import Job


def what_is_missing(cluster: Cluster, job: Job) -> str:
    """What the job lacks on the size that asks for the fewest memory units: capacity, bandwidth or ports."""
    fabric = cluster.fabric
    assert isinstance(fabric, Sipam)
    unit = fabric.memory_unit.stack
    demand = WorkloadDemand(job.workload, cluster.device)
    least_bytes: dict[int, float] = {}
    for size in job.sizes:
        mappings = demand.mappings(size)
        if size <= fabric.most_devices_of_a_job and len(mappings):
            least_bytes[size] = float(job.workload.footprint(mappings)[0].min())
    if not least_bytes:
        return "the workload divides over none of its sizes"
    if fabric.local_memory:
        return _without_room(least_bytes, cluster.device.capacity_bytes)
    needed = {size: ceil(least / unit.capacity_bytes) for size, least in least_bytes.items()}
    size = min(needed, key=lambda number: needed[number])
    units = needed[size]
    asks = f"on {size} accelerators each needs {units} memory units of {unit.capacity_bytes / 1e9:g} GB"
    if units > fabric.units_per_server:
        return f"capacity is missing: {asks}, a server has {fabric.units_per_server}; allow more accelerators"
    local_bytes_per_s = fabric.local_rails * fabric.shoreline.io.bandwidth_bytes_per_s
    if units * unit.bandwidth_bytes_per_s > local_bytes_per_s:
        return (
            f"bandwidth is missing: {asks}, which give {units * unit.bandwidth_bytes_per_s / 1e12:.3g} TB/s; its I/Os "
            f"on local rails carry {local_bytes_per_s / 1e12:.3g} TB/s; allow more accelerators or fewer spine_rails"
        )
    if fabric.memory_io(units) > fabric.local_rails:
        return (
            f"ports are missing: {asks}, hence {fabric.memory_io(units)} I/Os; it has {fabric.local_rails} on local "
            "rails; allow more accelerators, more units_per_port or fewer spine_rails"
        )
    return f"{asks}, and memory_grid lists no such number, or no I/O is left for its network"


def _without_room(least_bytes: dict[int, float], capacity_bytes: float) -> str:
    """What a job lacks whose accelerators have memory of their own, by the least that each must hold in it."""
    size = min(least_bytes, key=lambda number: least_bytes[number])
    asks = f"on {size} accelerators each holds {least_bytes[size] / 1e9:.1f} GB in its own memory"
    if least_bytes[size] > capacity_bytes:
        return f"capacity is missing: {asks}, which has {capacity_bytes / 1e9:g} GB; allow more accelerators or offload"
    return f"{asks}, and no listed number of memory units takes the rest, or no I/O is left for its network"
