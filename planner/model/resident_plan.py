"""Residents of an instance as a plan, and whether an assignment is what a resident has now."""

from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Assignment, Plan


def plan_of_residents(instance: Instance) -> Plan:
    """What runs now: the residents of an instance as a plan without objectives."""
    return Plan(instance=instance.name, assignments=tuple(map(assignment_of, instance.residents)))


def assignment_of(resident: Resident) -> Assignment:
    """A resident as an assignment of a plan."""
    return Assignment(
        job=resident.name,
        configuration=resident.configuration,
        devices=resident.devices,
        circuits=resident.circuits,
        memory=resident.memory,
        upper=resident.upper,
    )


def moved(instance: Instance, assignment: Assignment) -> Assignment:
    """The assignment, said to be moved if it is a resident that does not run as it does now."""
    job = instance.job(assignment.job)
    is_moved = isinstance(job, Resident) and not is_same(assignment, assignment_of(job))
    return assignment if assignment.is_moved == is_moved else assignment.model_copy(update={"is_moved": is_moved})


def is_same(one: Assignment, other: Assignment) -> bool:
    """Whether configuration, devices by rank and circuits agree; the order of circuits does not count."""
    return (
        one.devices == other.devices
        and one.configuration == other.configuration
        and [(held.dimension, held.phase, frozenset(held.circuits)) for held in one.circuits]
        == [(held.dimension, held.phase, frozenset(held.circuits)) for held in other.circuits]
        and frozenset(one.memory) == frozenset(other.memory)
        and frozenset(one.upper) == frozenset(other.upper)
    )
