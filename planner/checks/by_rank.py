"""Circuits of jobs by rank: what rules say of them is the same for all jobs that lie alike."""

from collections.abc import Callable, Hashable, Iterator, Sequence

from planner.checks.columns import columns
from planner.checks.isolation import numbered
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


@once
def places(instance: Instance, plan: Plan) -> Sequence[Hashable]:
    """The same with the slot of each rank, and which ranks share a server; None also for unknown devices."""
    placed, per_server = columns(instance, plan), instance.cluster.fabric.devices_per_server
    devices, start = placed.device.tolist(), placed.start.tolist()
    found = list[Hashable]()
    for j, lie in enumerate(lies(instance, plan)):
        own = devices[start[j] : start[j + 1]]
        is_known = lie is not None and min(own, default=0) >= 0
        servers = numbered([device // per_server for device in own])
        found.append((lie, servers, tuple([device % per_server for device in own])) if is_known else None)
    return found


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
