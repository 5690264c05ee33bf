"""Fibers and wavelengths by name, read from the fields of the fabric and the health of the cluster."""

import re

from costmodel.fabrics import Lightpath
from planner.checks.names import server_of
from planner.model.cluster import Cluster

Ray = tuple[int, int, int]
"""(server, slot, wavelength)"""
Fiber = tuple[int, int, int]
"""(source server, destination server, index)"""


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
