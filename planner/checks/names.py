"""Parts by name: None for a name that the cluster does not have."""

import re
from collections.abc import Iterator

from costmodel.fabrics import FabricBase, Lightpath
from planner.model.cluster import Cluster
from planner.model.instance import Instance, Job
from planner.model.plan import Assignment, Plan

Tile = tuple[int, int]
"""(server, slot)"""
Ray = tuple[int, int, int]
"""(server, slot, wavelength)"""
Fiber = tuple[int, int, int]
"""(source server, destination server, index)"""


def admitted(instance: Instance, plan: Plan) -> Iterator[tuple[Job, Assignment]]:
    """Jobs with their assignment, in the order of the plan; unknown and repeated ones are left out."""
    jobs = {job.name: job for job in instance.all_jobs}
    for assignment in plan.assignments:
        if job := jobs.pop(assignment.job, None):
            yield job, assignment


def tile_of(fabric: FabricBase, name: str) -> Tile | None:
    """(server, slot) of a device."""
    try:
        tile = fabric.parse_device(name)
    except ValueError:
        return None
    return tile if fabric.device_name(*tile) == name else None


def server_of(fabric: FabricBase, name: str) -> int | None:
    try:
        return fabric.parse_server(name)
    except ValueError:
        return None


def fiber_of(fabric: Lightpath, name: str) -> Fiber | None:
    """(source server, destination server, index) of a fiber, working or not."""
    match = re.fullmatch(r"(.+)>(.+)#(0|[1-9][0-9]{0,5})", name)
    if match is None:
        return None
    source, destination = server_of(fabric, match[1]), server_of(fabric, match[2])
    if source is None or destination is None or int(match[3]) >= count_fibers(fabric, source, destination):
        return None
    return source, destination, int(match[3])


def count_fibers(fabric: Lightpath, source: int, destination: int) -> int:
    """Fibers from one server to another, working or not; racks are not joined."""
    if source == destination or source // fabric.servers != destination // fabric.servers:
        return 0
    if isinstance(fabric.fibers, int):
        return fabric.fibers
    pair = fabric.server_name(source), fabric.server_name(destination)
    return sum(bundle.count for bundle in fabric.fibers if (bundle.source, bundle.destination) == pair)


def failed_fibers(cluster: Cluster) -> set[Fiber]:
    """Fibers that carry no light."""
    parse = cluster.fabric.parse_server
    return {(parse(f.source), parse(f.destination), f.index) for f in cluster.health.failed_fibers}


def failed_wavelengths(cluster: Cluster) -> tuple[set[Ray], set[Ray]]:
    """Wavelengths that tiles cannot send, and that tiles cannot receive."""
    health, parse = cluster.health, cluster.fabric.parse_device
    lasers = {(*parse(part.tile), part.wavelength) for part in health.failed_lasers}
    return lasers, {(*parse(part.tile), part.wavelength) for part in health.failed_receivers}


def tiles_in(cluster: Cluster, names: tuple[str, ...]) -> set[Tile]:
    """The known devices among some names."""
    tiles = (tile_of(cluster.fabric, name) for name in names)
    return {tile for tile in tiles if tile is not None}
