"""What the cost model says of the jobs of a plan: found once of all that ask for the same and run alike."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from costmodel.parallelism.configuration import Configuration
from planner.checks.names import admitted, once
from planner.checks.placed_steps import by_placed_step
from planner.checks.pricing import Price, fastest_and_least, is_listed, missed, price, price_together
from planner.model.instance import Instance
from planner.model.job import Job, Resident
from planner.model.plan import Assignment, Plan


class Judged(NamedTuple):
    """One configuration, for one kind of request."""

    price: Price | None
    """None where workload or fabric has no such configuration"""
    full_speed: float | None
    """of the reference, or the fastest listed; None where nothing is listed"""
    least_energy: float | None
    """per unit of work, likewise"""
    fault: str | None
    """why a job may not run like this, without its name"""


@once
def judged(instance: Instance, plan: Plan) -> Sequence[Judged]:
    """Of each admitted job, in the order of `admitted`."""
    first: dict[Hashable, tuple[Job, Assignment]] = {}
    keys = []
    for job, assignment in admitted(instance, plan):
        key = _key(job, assignment.configuration)
        if key not in first:
            first[key] = job, assignment
        keys.append(key)
    price_together(instance, ((job, assignment.configuration) for job, assignment in first.values()))
    found = {key: _judge(instance, job, assignment.configuration) for key, (job, assignment) in first.items()}
    if not instance.placed_steps:
        return [found[key] for key in keys]
    each = zip(admitted(instance, plan), (found[key] for key in keys), strict=True)
    return [_placed(instance, assignment, judged) for (_, assignment), judged in each]


def _placed(instance: Instance, assignment: Assignment, found: Judged) -> Judged:
    if found.price is None:
        return found
    return found._replace(price=by_placed_step(instance, assignment, found.price))


def _key(job: Job, configuration: Configuration) -> Hashable:
    """All that a judgement depends on; configurations and references as objects, which plan and instance keep."""
    asked = job.workload_json, job.constraints_json, job.sizes, id(job.reference), id(configuration)
    if not isinstance(job, Resident):
        return asked
    return *asked, configuration == job.configuration or job.configuration


def _judge(instance: Instance, job: Job, configuration: Configuration) -> Judged:
    priced, given = price(instance, job, configuration), job.reference
    full, least = (given.speed, given.energy_per_work) if given is not None else fastest_and_least(instance, job)
    return Judged(priced, full, least, _fault(instance, job, configuration, priced))


def _fault(instance: Instance, job: Job, configuration: Configuration, priced: Price | None) -> str | None:
    if priced is None:
        return "neither workload nor fabric has this configuration"
    if isinstance(job, Resident) and configuration == job.configuration:
        return None
    if late := missed(job, priced.ttft_s, priced.tpot_s):
        return " and ".join(late)
    if not is_listed(instance, job, configuration):
        return "its sizes, constraints or memory rule this configuration out"
    return None
