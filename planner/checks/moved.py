"""Residents that a plan leaves exactly as they are, and those that it moves."""

from planner.model.job import Resident
from planner.model.plan import Assignment, HeldCircuits


def has_moved(resident: Resident, assignment: Assignment) -> bool:
    """True if devices by rank, configuration or circuits differ; the order of circuits does not count."""
    return (
        assignment.devices != resident.devices
        or assignment.configuration != resident.configuration
        or _unordered(assignment.circuits) != _unordered(resident.circuits)
        or frozenset(assignment.memory) != frozenset(resident.memory)
        or frozenset(assignment.upper) != frozenset(resident.upper)
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
