"""Configurations that the cost model lists."""

from collections.abc import Iterator

from planner.checks.names import admitted
from planner.checks.pricing import is_listed, missed, price
from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_listed(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """The configuration is a listed candidate that fits in memory and meets the limits of its workload, or a resident's
    current one."""
    for job, assignment in admitted(instance, plan):
        configuration = assignment.configuration
        priced = price(instance, job, configuration)
        if priced is None:
            message = f"{job.name}: neither workload nor fabric has this configuration"
            yield Violation("listed", job.name, message)
        elif isinstance(job, Resident) and configuration == job.configuration:
            continue
        elif late := missed(job, priced.ttft_s, priced.tpot_s):
            yield Violation("listed", job.name, f"{job.name}: {' and '.join(late)}")
        elif not is_listed(instance, job, configuration):
            message = f"{job.name}: its sizes, constraints or memory rule this configuration out"
            yield Violation("listed", job.name, message)
