"""Racks."""

from collections.abc import Iterator

from planner.checks.names import admitted, tiles_in
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_rack(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """All devices of a job lie in one rack, unless the fabric links racks."""
    fabric = instance.cluster.fabric
    if fabric.links_racks:
        return
    for job, assignment in admitted(instance, plan):
        racks = {server // fabric.servers for server, _ in tiles_in(instance.cluster, assignment.devices)}
        if len(racks) > 1:
            message = f"{job.name}: its devices lie in {len(racks)} racks, which no fiber joins"
            yield Violation("rack", job.name, message, len(racks) - 1.0)
