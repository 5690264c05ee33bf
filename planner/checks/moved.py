"""Residents that a plan leaves exactly as they are, and those that it moves."""

from planner.checks.names import admitted, once
from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Assignment, HeldCircuits, Plan


@once
def movers(instance: Instance, plan: Plan) -> frozenset[str]:
    """Names of residents of which devices by rank, configuration or circuits differ; the order of circuits does not
    count."""
    if not instance.residents:
        return frozenset()
    compared: dict[tuple[int, int], bool] = {}
    found = set[str]()
    for job, assignment in admitted(instance, plan):
        if isinstance(job, Resident):
            pair = id(assignment.configuration), id(job.configuration)
            if pair not in compared:
                compared[pair] = assignment.configuration == job.configuration
            if not compared[pair] or _lies_elsewhere(job, assignment):
                found.add(job.name)
    return frozenset(found)


def _lies_elsewhere(resident: Resident, assignment: Assignment) -> bool:
    held, running = assignment.circuits, resident.circuits
    return (
        assignment.devices != resident.devices
        or (held is not running and _unordered(held) != _unordered(running))
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
