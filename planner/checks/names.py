"""Parts by name: None for a name that the cluster does not have."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import TypeVar

from costmodel.fabrics import FabricBase
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.plan import Assignment, Plan

Tile = tuple[int, int]
"""(server, slot)"""
Found = TypeVar("Found")


@dataclass(frozen=True, eq=False)
class _Pair:
    """An instance and a plan, each the very object."""

    instance: Instance
    plan: Plan

    def __hash__(self) -> int:
        return hash((id(self.instance), id(self.plan)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Pair) and self.instance is other.instance and self.plan is other.plan


def once(find: Callable[[Instance, Plan], Found]) -> Callable[[Instance, Plan], Found]:
    """What several rules ask of the same plan, found once for the very objects."""

    @lru_cache(maxsize=1)
    def of_pair(pair: _Pair) -> Found:
        return find(pair.instance, pair.plan)

    @wraps(find)
    def found(instance: Instance, plan: Plan) -> Found:
        return of_pair(_Pair(instance, plan))

    return found


@once
def admitted(instance: Instance, plan: Plan) -> Sequence[tuple[Job, Assignment]]:
    """Jobs with their assignment, in the order of the plan; unknown and repeated ones are left out."""
    jobs = instance.jobs_by_name.copy()
    found = ((jobs.pop(assignment.job, None), assignment) for assignment in plan.assignments)
    return tuple((job, assignment) for job, assignment in found if job is not None)


def ranks_by_server(fabric: FabricBase, assignment: Assignment) -> Counter[int]:
    """How many accelerators of a job each of its servers gives; names of none are left out."""
    tiles = (tile_of(fabric, name) for name in assignment.devices)
    return Counter(tile[0] for tile in tiles if tile is not None)


def tile_of(fabric: FabricBase, name: str) -> Tile | None:
    """(server, slot) of a device."""
    head, _, tail = name.rpartition(".")
    server, slot = fabric.servers_by_name.get(head), fabric.slots_by_name.get(tail)
    return None if server is None or slot is None else (server, slot)


def server_of(fabric: FabricBase, name: str) -> int | None:
    try:
        return fabric.parse_server(name)
    except ValueError:
        return None


def tiles_in(cluster: Cluster, names: tuple[str, ...]) -> set[Tile]:
    """The known devices among some names."""
    tiles = (tile_of(cluster.fabric, name) for name in names)
    return {tile for tile in tiles if tile is not None}
