"""Circuits that a job holds."""

from collections import Counter
from collections.abc import Iterator

from planner.checks.by_rank import each_lie, lies
from planner.checks.fabric_rules import FabricRules
from planner.checks.names import admitted
from planner.checks.phases import in_phases
from planner.checks.required import Links
from planner.fabrics import plugin_of
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, HeldCircuits, Plan
from planner.model.violation import Violation

Ends = Counter[tuple[str, str, int]]
"""circuits by source, destination and number of wavelengths"""


def check_circuits(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """A job holds exactly the circuits of its collectives: of tensor, then pipeline, then data.

    Those of a torus join slices, whatever runs there (`switches`).
    """
    rules, whole = plugin_of(instance.cluster.fabric).rules, admitted(instance, plan)
    yield from each_lie(lies(instance, plan), lambda j: _check_placed(rules, *whole[j]))


def _check_placed(rules: FabricRules, job: Job, assignment: Assignment) -> Iterator[Violation]:
    if len(assignment.devices) != assignment.configuration.num_devices:
        return
    for each in in_phases(job, assignment):
        required = rules.required(each.configuration)
        if required is not None:
            yield from _check_job(each, required)


def _check_job(assignment: Assignment, required: list[tuple[str, Links]]) -> Iterator[Violation]:
    devices, job = assignment.devices, assignment.job
    wanted = [dimension for dimension, _ in required]
    given = [held.dimension for held in assignment.circuits]
    if wanted != given:
        needed, held_for = (", ".join(each) or "nothing" for each in (wanted, given))
        message = f"{job}: configurations of circuits are needed for {needed}, not for {held_for}"
        yield Violation("circuits", job, message, float(max(abs(len(wanted) - len(given)), 1)))
        return
    for number, ((_, links), held) in enumerate(zip(required, assignment.circuits, strict=True)):
        ends: Ends = Counter({(devices[a], devices[b], width): 1 for (a, b), width in links.items()})
        yield from _compare(ends, _ends(held), f"{job}: configuration {number}")


def _ends(held: HeldCircuits) -> Ends:
    return Counter((c.source, c.destination, len(set(c.wavelengths))) for c in held.circuits)


def _compare(needed: Ends, found: Ends, where: str) -> Iterator[Violation]:
    for word, difference in (("lacks", needed - found), ("has the superfluous", found - needed)):
        for (source, destination, width), count in difference.items():
            message = f"{where} {word} circuit {source} to {destination} of {width} wavelengths"
            yield Violation("circuits", where, message, float(count))
