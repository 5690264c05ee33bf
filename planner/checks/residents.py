"""Jobs that run already."""

from collections.abc import Iterator

from planner.checks.moved import movers
from planner.checks.names import admitted, tiles_in
from planner.fabrics import plugin_of
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation


def check_residents(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """An immovable resident stays; one that stands on a failed part does not."""
    for job, assignment in admitted(instance, plan) if instance.residents else ():
        if not isinstance(job, Resident):
            continue
        if job.name in movers(instance, plan):
            if not job.movable:
                yield Violation("residents", job.name, f"{job.name} may not move, but does")
        elif lost := lost_parts(instance.cluster, assignment):
            message = f"{job.name} stays on failed {', '.join(lost)}"
            yield Violation("residents", job.name, message, float(len(lost)))


def lost_parts(cluster: Cluster, assignment: Assignment) -> list[str]:
    """Names of failed parts that a job uses: devices by rank, then what its circuits and memory go through."""
    if not cluster.failed_parts:
        return []
    broken = tiles_in(cluster, cluster.health.failed_tiles)
    if len(assignment.devices) > 1 or cluster.fabric.has_remote_memory:
        broken |= tiles_in(cluster, cluster.health.failed_ports)
    devices = [name for name in assignment.devices if tiles_in(cluster, (name,)) & broken]
    between = {circuit.over for circuit in assignment.upper} & {*cluster.health.failed_upper}
    return [*devices, *plugin_of(cluster.fabric).rules.lost(cluster, assignment), *sorted(between)]
