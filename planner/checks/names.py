"""Parts by name: None for a name that the cluster does not have."""

from collections.abc import Iterator

from costmodel.fabrics import FabricBase
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, Plan

Tile = tuple[int, int]
"""(server, slot)"""


def admitted(instance: Instance, plan: Plan) -> Iterator[tuple[Job, Assignment]]:
    """Jobs with their assignment, in the order of the plan; unknown and repeated ones are left out."""
    jobs = instance.jobs_by_name.copy()
    for assignment in plan.assignments:
        if job := jobs.pop(assignment.job, None):
            yield job, assignment


def tile_of(fabric: FabricBase, name: str) -> Tile | None:
    """(server, slot) of a device."""
    try:
        return fabric.parse_device(name)
    except ValueError:
        return None


def server_of(fabric: FabricBase, name: str) -> int | None:
    try:
        return fabric.parse_server(name)
    except ValueError:
        return None


def tiles_in(cluster: Cluster, names: tuple[str, ...]) -> set[Tile]:
    """The known devices among some names."""
    tiles = (tile_of(cluster.fabric, name) for name in names)
    return {tile for tile in tiles if tile is not None}
