"""A job over several racks as the rules of a pool see it: what it has in each."""

from collections.abc import Iterable

from planner.checks.names import tile_of
from planner.fabrics.sipam.rule_parts import PoolParts
from planner.model.plan import Assignment


def in_racks(parts: PoolParts, phases: Iterable[Assignment]) -> list[list[Assignment]]:
    """Devices, circuits and memory of a job in each rack, phase by phase; circuits are of the rack that they leave."""
    found: dict[int, list[Assignment]] = {}
    for assignment in phases:
        racks = {
            name: tile[0] // parts.fabric.servers
            for name in assignment.devices
            if (tile := tile_of(parts.fabric, name))
        }
        for rack in sorted({*racks.values()}):
            found.setdefault(rack, []).append(_inside(assignment, {name for name, of in racks.items() if of == rack}))
    return list(found.values())


def _inside(assignment: Assignment, devices: set[str]) -> Assignment:
    """What a job has on these of its devices."""
    circuits = tuple(
        held.model_copy(update={"circuits": tuple(c for c in held.circuits if c.source in devices)})
        for held in assignment.circuits
    )
    own = tuple(name for name in assignment.devices if name in devices)
    memory = tuple(circuit for circuit in assignment.memory if circuit.device in devices)
    return assignment.model_copy(update={"devices": own, "circuits": circuits, "memory": memory})
