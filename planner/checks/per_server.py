"""Accelerators that each server of a job gives."""

from collections.abc import Iterator

from planner.checks.names import admitted, ranks_by_server
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_per_server(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """A job that asks for so many accelerators of each server has exactly as many on all that it uses."""
    fabric = instance.cluster.fabric
    for job, assignment in admitted(instance, plan):
        asked = job.constraints.per_server
        if asked is None:
            continue
        for server, count in sorted(ranks_by_server(fabric, assignment).items()):
            if count != asked:
                message = f"{job.name}: {fabric.server_name(server)} gives {count} accelerators, asked of each: {asked}"
                yield Violation("per_server", job.name, message, float(abs(count - asked)))
