"""Parts of a plan that only pooled memory has."""

from collections.abc import Iterator

from planner.checks.names import admitted
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_no_pool(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """No job holds memory circuits: memory is local."""
    for _, assignment in admitted(instance, plan):
        if assignment.memory:
            message = f"{assignment.job}: memory is local on a {instance.cluster.fabric.kind}"
            yield Violation("memory_pool", assignment.job, message, float(len(assignment.memory)))


def check_no_switches(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """The plan states no switches of pools."""
    if plan.switches is not None:
        yield Violation("pool_light", "switches", f"a {instance.cluster.fabric.kind} has no such switches")
