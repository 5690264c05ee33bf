"""Configurations that the cost model lists."""

from collections.abc import Iterator

from planner.checks.judged import judged
from planner.checks.names import admitted
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_listed(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """The configuration is a listed candidate that fits in memory and meets the limits of its workload, or a resident's
    current one."""
    for (job, _), found in zip(admitted(instance, plan), judged(instance, plan), strict=True):
        if found.fault is not None:
            yield Violation("listed", job.name, f"{job.name}: {found.fault}")
