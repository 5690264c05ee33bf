"""Jobs that run already."""

from collections.abc import Iterator
from typing import Literal

from costmodel.fabrics import DividedPorts, Lightpath, OcsRail, Sipam, Torus
from planner.checks.names import admitted, failed_fibers, fiber_of, tile_of, tiles_in
from planner.fabrics.sipam.rule_parts import PoolParts
from planner.model.cluster import Cluster, FailedLaser
from planner.model.instance import Instance, Resident
from planner.model.plan import Assignment, HeldCircuits, Plan
from planner.model.violation import Violation


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
        or frozenset(assignment.memory) != frozenset(resident.memory)
    )


def _unordered(circuits: tuple[HeldCircuits, ...]) -> list[object]:
    return [
        (
            held.dimension,
            held.phase,
            sorted((c.source, c.destination, sorted(c.wavelengths), c.fibers) for c in held.circuits),
        )
        for held in circuits
    ]


def _uses(assignment: Assignment, part: FailedLaser, end: Literal["source", "destination"]) -> bool:
    """Whether a circuit leaves, or enters, the tile of a laser or receiver on its wavelength."""
    circuits = [circuit for held in assignment.circuits for circuit in held.circuits]
    return any(getattr(c, end) == part.tile and part.wavelength in c.wavelengths for c in circuits)


def _lost(cluster: Cluster, assignment: Assignment) -> list[str]:
    """Failed parts that a job uses."""
    fabric, health = cluster.fabric, cluster.health
    broken = tiles_in(cluster, health.failed_tiles)
    if len(assignment.devices) > 1 or isinstance(fabric, Sipam | DividedPorts):
        broken |= tiles_in(cluster, health.failed_ports)
    lost = [name for name in assignment.devices if tiles_in(cluster, (name,)) & broken]
    if isinstance(fabric, Lightpath):
        used = {name for held in assignment.circuits for c in held.circuits for name in c.fibers}
        failed = failed_fibers(cluster)
        lost += sorted(name for name in used if fiber_of(fabric, name) in failed)
        lost += [part.name for part in health.failed_lasers if _uses(assignment, part, "source")]
        lost += [part.name for part in health.failed_receivers if _uses(assignment, part, "destination")]
    if isinstance(fabric, Torus):
        used = {name for held in assignment.circuits for c in held.circuits for name in c.fibers}
        lost += sorted(used.intersection(health.failed_switches))
    if isinstance(fabric, OcsRail):
        circuits = [circuit for held in assignment.circuits for circuit in held.circuits]
        used = {f"q{tile[1]}#{w}" for c in circuits if (tile := tile_of(fabric, c.source)) for w in c.wavelengths}
        lost += sorted(used.intersection(health.failed_switches))
    if isinstance(fabric, Sipam):
        lost += _lost_in_pool(cluster, fabric, assignment)
    return lost


def _lost_in_pool(cluster: Cluster, fabric: Sipam, assignment: Assignment) -> list[str]:
    """Failed units, ports, uplinks and switches that a job uses."""
    parts, used = PoolParts(cluster, fabric), set[str]()
    for plug in assignment.memory:
        used |= {plug.port, *plug.units}
        if tile := tile_of(fabric, plug.device):
            used.add(parts.server_switch(tile[0], plug.rail))
    for circuit in (circuit for held in assignment.circuits for circuit in held.circuits):
        tiles = [tile for name in (circuit.source, circuit.destination) if (tile := tile_of(fabric, name))]
        used |= {*circuit.fibers, *(parts.server_switch(server, q) for server, _ in tiles for q in circuit.wavelengths)}
        if circuit.fibers:
            used |= {parts.zone_switch(server, q) for server, _ in tiles for q in circuit.wavelengths}
    return sorted(used & parts.failed)
