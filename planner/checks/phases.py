"""Phases of a workload between which a job changes its circuits and its memory."""

from collections.abc import Iterator

from planner.checks.names import admitted
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation


def in_phases(job: Job, assignment: Assignment) -> list[Assignment]:
    """The job as it runs in the first and in the last phase, with what is on there; itself where it never changes."""
    configuration = assignment.configuration
    if configuration.first_phase is None or not job.workload.phases:
        return [assignment]
    found = []
    for setting, phase in zip(configuration.by_phase, (job.workload.phases[0], job.workload.phases[-1]), strict=True):
        on = (None, phase)
        changes = {
            "configuration": setting,
            "circuits": tuple(held for held in assignment.circuits if held.phase in on),
            "memory": tuple(circuit for circuit in assignment.memory if circuit.phase in on),
        }
        found.append(assignment.model_copy(update=changes))
    return found


def check_phases(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """Only jobs with two settings have circuits of one phase; no memory is on in the phase with less of it alone.
    Circuits that take turns are on in that of their kind."""
    for job, assignment in admitted(instance, plan):
        if assignment.configuration.turns:
            yield from _check_turns(assignment)
        elif assignment.circuits or assignment.memory or assignment.configuration.first_phase is not None:
            yield from _check_settings(job, assignment)


def _check_turns(assignment: Assignment) -> Iterator[Violation]:
    for held in assignment.circuits:
        kind = held.dimension if held.dimension in ("pipeline", "data") else "layers"
        turns = [turn for turn in assignment.configuration.turns if kind in turn.split("+")]
        if turns != [held.phase]:
            message = f"{assignment.job}: circuits along {held.dimension} are on in {held.phase}, not in their turn"
            yield Violation("phases", assignment.job, f"{message} {', '.join(turns)}", 1.0)


def _check_settings(job: Job, assignment: Assignment) -> Iterator[Violation]:
    marks = {held.phase for held in assignment.circuits} | {circuit.phase for circuit in assignment.memory}
    changes = assignment.configuration.first_phase is not None
    known = set(job.workload.phases[:1] + job.workload.phases[-1:]) if changes else set()
    if foreign := sorted(mark for mark in marks if mark is not None and mark not in known):
        message = f"{job.name}: has no phase {', '.join(foreign)} in which its circuits could change"
        yield Violation("phases", job.name, message, float(len(foreign)))
    elif changes:
        first, last = in_phases(job, assignment)
        less = min(first, last, key=lambda each: each.configuration.memory_units or 0)
        more = first if less is last else last
        if alone := set(less.memory) - set(more.memory):
            message = f"{job.name}: {len(alone)} memory circuits are on only where it has less memory"
            yield Violation("phases", job.name, message, float(len(alone)))
