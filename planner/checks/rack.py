"""Racks."""

from collections.abc import Iterator

import numpy as np

from costmodel.fabrics import FabricBase
from planner.checks.columns import Bools, chosen, columns
from planner.checks.names import tile_of, tiles_in
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation


def check_rack(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """All devices of a job lie in one rack, or in equal runs of ranks in as many as its configuration says, unless the
    fabric links racks."""
    fabric = instance.cluster.fabric
    if fabric.links_racks:
        return
    for job, assignment in chosen(instance, plan, _suspects(instance, plan)):
        racks = {server // fabric.servers for server, _ in tiles_in(instance.cluster, assignment.devices)}
        wanted = assignment.configuration.data_collective.racks
        if wanted == 1 and len(racks) > 1:
            message = f"{job.name}: its accelerators lie in {len(racks)} racks, which no fiber joins"
            yield Violation("rack", job.name, message, len(racks) - 1.0)
        elif wanted > 1 and not _has_equal_parts(fabric, assignment, wanted):
            message = (
                f"{job.name}: its ranks do not lie in {wanted} racks, as many in each and one rack after the other"
            )
            yield Violation("rack", job.name, message, float(max(abs(len(racks) - wanted), 1)))


def _suspects(instance: Instance, plan: Plan) -> Bools:
    """Jobs that should lie in several racks, or seem to."""
    placed, servers = columns(instance, plan), instance.cluster.fabric.servers
    rack = placed.server // servers
    is_wide = np.array([each.racks > 1 for each in placed.configurations], np.bool_)[placed.kind]
    return np.asarray(is_wide | placed.jobs_with(rack != rack[placed.first_of_job]))


def _has_equal_parts(fabric: FabricBase, assignment: Assignment, racks: int) -> bool:
    """True if runs of as many ranks lie in a rack each, in ascending order."""
    size, rest = divmod(len(assignment.devices), racks)
    tiles = [tile_of(fabric, name) for name in assignment.devices]
    if rest or not size:
        return False
    runs = [{tile and tile[0] // fabric.servers for tile in tiles[i : i + size]} for i in range(0, len(tiles), size)]
    order = [next(iter(run)) for run in runs if len(run) == 1 and None not in run]
    return len(order) == racks and order == sorted({*order}, key=lambda rack: rack or 0)
