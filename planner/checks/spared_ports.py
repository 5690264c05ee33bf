"""Working ports that single devices leave to others."""

from collections.abc import Iterator

from planner.checks.moved import movers
from planner.checks.names import admitted, tile_of, tiles_in
from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_spared_ports(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """A single-device job that starts leaves working ports to others where its server has a free device without."""
    cluster = instance.cluster
    if not cluster.health.failed_ports:
        return
    taken = tiles_in(cluster, tuple(name for _, assignment in admitted(instance, plan) for name in assignment.devices))
    spare = tiles_in(cluster, cluster.health.failed_ports) - taken - tiles_in(cluster, cluster.health.failed_tiles)
    for job, assignment in admitted(instance, plan):
        if len(assignment.devices) != 1 or (isinstance(job, Resident) and job.name not in movers(instance, plan)):
            continue
        tile = tile_of(cluster.fabric, assignment.devices[0])
        free = [other for other in spare if tile is not None and other[0] == tile[0]]
        if free and tile not in tiles_in(cluster, cluster.health.failed_ports):
            message = f"{job.name} takes a working port although an accelerator without one is free on its server"
            yield Violation("placement", f"{job.name}: {assignment.devices[0]}", message, float(len(free)))
