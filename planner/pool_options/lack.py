"""Why no division of the I/O suits a job in racks with pooled memory."""

from math import ceil

from costmodel.fabrics import Sipam
from planner.cluster import Cluster
from planner.instance import Job


def what_is_missing(cluster: Cluster, job: Job) -> str:
    """What the job lacks on the size that asks for the fewest memory units: capacity, bandwidth or ports."""
    fabric = cluster.fabric
    assert isinstance(fabric, Sipam)
    unit = fabric.memory_unit.stack
    needed: dict[int, int] = {}
    for size in job.sizes:
        if size <= fabric.most_devices_of_a_job and len(mappings := job.workload.mappings(size)):
            least_bytes = float(job.workload.footprint(mappings)[0].min())
            needed[size] = ceil(least_bytes / unit.capacity_bytes)
    if not needed:
        return "the workload divides over none of its sizes"
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
