"""Jobs that run already."""

from collections.abc import Iterator

from costmodel.fabrics import Lightpath
from planner.checks.names import admitted, failed_fibers, fiber_of, tiles_in
from planner.checks.violation import Violation
from planner.cluster import Cluster
from planner.instance import Instance, Resident
from planner.plan import Assignment, HeldCircuits, Plan


def check_residents(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """An immovable resident stays; one that stands on a failed part does not."""
    for job, assignment in admitted(instance, plan):
        if not isinstance(job, Resident):
            continue
        if has_moved(job, assignment):
            if not job.movable:
                yield Violation("residents", job.name, f"{job.name} may not move, but does")
        elif lost := _lost(instance.cluster, assignment):
            message = f"{job.name} stays on failed {', '.join(lost)}"
            yield Violation("residents", job.name, message, float(len(lost)))


def has_moved(resident: Resident, assignment: Assignment) -> bool:
    """Whether devices by rank, configuration or circuits differ; the order of circuits does not count."""
    return (
        assignment.devices != resident.devices
        or assignment.configuration != resident.configuration
        or _unordered(assignment.circuits) != _unordered(resident.circuits)
    )


def _unordered(circuits: tuple[HeldCircuits, ...]) -> list[object]:
    return [
        (
            held.dimension,
            sorted((c.source, c.destination, sorted(c.wavelengths), c.fibers) for c in held.circuits),
        )
        for held in circuits
    ]


def _lost(cluster: Cluster, assignment: Assignment) -> list[str]:
    """Failed parts that a job uses."""
    fabric, health = cluster.fabric, cluster.health
    broken = tiles_in(cluster, health.failed_tiles)
    if len(assignment.devices) > 1:
        broken |= tiles_in(cluster, health.failed_ports)
    lost = [name for name in assignment.devices if tiles_in(cluster, (name,)) & broken]
    if isinstance(fabric, Lightpath):
        used = {name for held in assignment.circuits for c in held.circuits for name in c.fibers}
        failed = failed_fibers(cluster)
        lost += sorted(name for name in used if fiber_of(fabric, name) in failed)
    return lost
