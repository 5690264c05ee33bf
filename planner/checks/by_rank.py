"""Circuits of jobs by rank: what rules say of them is the same for all jobs that lie alike."""

from collections.abc import Callable, Hashable, Iterator, Sequence

from planner.checks.names import admitted, once
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation


@once
def lies(instance: Instance, plan: Plan) -> Sequence[Hashable]:
    """Of each admitted job its configuration, as object, and ends and widths of its circuits by rank; None where
    several ranks are on one device."""
    return [_lie(job, assignment) for job, assignment in admitted(instance, plan)]


def _lie(job: Job, assignment: Assignment) -> Hashable:
    configuration, devices = assignment.configuration, assignment.devices
    phases = job.workload.phases if configuration.first_phase is not None else ()
    if not assignment.circuits:
        return id(configuration), len(devices), phases
    rank = {name: number for number, name in enumerate(devices)}
    if len(rank) < len(devices):
        return None
    circuits = tuple(
        [
            (
                held.dimension,
                held.phase,
                tuple([(rank.get(c.source), rank.get(c.destination), len({*c.wavelengths})) for c in held.circuits]),
            )
            for held in assignment.circuits
        ]
    )
    return id(configuration), len(devices), phases, circuits


def each_lie(keys: Sequence[Hashable], judge: Callable[[int], Iterator[Violation]]) -> Iterator[Violation]:
    """What is wrong with jobs by number, where a rule says the same of all with one key; jobs with None are alike to no
    other."""
    right = set[Hashable]()
    for j, key in enumerate(keys):
        if key is None or key not in right:
            found = [*judge(j)]
            yield from found
            if not found:
                right.add(key)
