"""Every job keeps its configuration: the fewest ranks that move, then the fewest circuits that change."""

from dataclasses import dataclass, replace

from costmodel.fabrics import Lightpath
from planner.cpsat.repair import RankRepair, RepairLimits, RepairProblem, mend
from planner.model.plan import Assignment
from planner.model.ranked_assignment import RankedCircuit, circuits_of
from planner.whatif.repair.damaged_plan import DamagedPlan
from planner.whatif.repair.place_anew import placed_anew
from planner.whatif.repair.spare import use_spares

SMALL = 60_000
"""literals up to which all jobs are searched at once, which proves what is fewest"""
LARGE = 600_000
"""literals up to which some jobs are searched, all others fixed"""
LITERALS_PER_S = 50_000
"""that a model is built of, at least"""
MAX_NEIGHBOURS = 3
"""sets of jobs that are moved out of the way, tried one after the other"""


@dataclass(frozen=True)
class Kept:
    """Assignments of all jobs, none with another configuration, and what is proven of them."""

    assignments: list[Assignment] | None
    least_moves: int
    least_changes: int
    """for as many moved ranks as there are"""
    is_impossible: bool = False
    """proven: the jobs cannot all go on as they run"""


def keep_all(wreck: DamagedPlan, limits: RepairLimits, *, is_quick: bool = False) -> Kept:
    """The jobs of a plan on what is left; spare devices first, then search unless it must be quick."""
    bounds = wreck.least_moves, wreck.least_changes
    if wreck.cluster.fabric.places_whole_jobs:
        assignments, is_impossible = placed_anew(wreck, limits, is_quick=is_quick)
        return Kept(assignments, *bounds, is_impossible)
    quick = use_spares(wreck, keep_light=True)
    if quick is not None and wreck.leaves_ports(quick):
        return Kept(quick, *bounds)
    if is_quick or limits.is_late or _is_overfull(wreck):
        return Kept(None, wreck.least_moves, 0, is_impossible=_is_overfull(wreck))
    scene = wreck.scene([tenant.name for tenant in wreck.tenants])
    bound = mend(scene, None, limits) if _is_countable(scene) else RankRepair()
    if bound.is_impossible:
        return Kept(None, wreck.least_moves, 0, is_impossible=True)
    if scene.size <= _most_literals(limits, SMALL):
        found = mend(scene, _wanted(wreck, scene), limits)
        if found.devices is not None or found.is_impossible:
            return _written(wreck, scene, found)
    routed = use_spares(wreck, keep_light=False)
    if routed is not None and wreck.leaves_ports(routed):
        return Kept(routed, *bounds)
    return _around(wreck, scene, max(bound.least_moves, wreck.least_moves), limits)


def _is_countable(scene: RepairProblem) -> bool:
    """Whether all jobs can be searched at once where light is left aside: a literal for each rank and server."""
    ranks = sum(len(tenant.devices) for tenant in scene.tenants)
    return ranks * (scene.cluster.fabric.num_servers + 1) <= LARGE


def _is_overfull(wreck: DamagedPlan) -> bool:
    """Whether there are fewer healthy devices than ranks, or fewer with a port than ranks of larger jobs."""
    cluster = wreck.cluster
    sizes = [len(tenant.devices) for tenant in wreck.tenants]
    num_lit = cluster.num_healthy - len(cluster.dark_devices)
    return sum(sizes) > cluster.num_healthy or sum(size for size in sizes if size > 1) > num_lit


def _around(wreck: DamagedPlan, scene: RepairProblem, least: int, limits: RepairLimits) -> Kept:
    """Jobs are moved out of the way: those that a search without light names, then others instead."""
    for names in _neighbourhoods(wreck, scene, set(wreck.touched), limits):
        part = wreck.scene(names)
        if part.size > _most_literals(limits, LARGE):
            continue
        found = mend(part, _wanted(wreck, part), limits)
        if found.devices is not None:
            written = _written(wreck, part, found)
            return replace(written, least_moves=least, least_changes=wreck.least_changes)
    return Kept(None, least, 0)


def _most_literals(limits: RepairLimits, most: int) -> float:
    """Of a model that leaves time for its search."""
    return min(most, LITERALS_PER_S * limits.seconds_left)


def _neighbourhoods(wreck: DamagedPlan, scene: RepairProblem, near: set[str], limits: RepairLimits) -> list[set[str]]:
    """Sets of jobs to search: those that lost something alone, then with others that make room."""
    sets, pinned = [near], scene.pinned
    for _ in range(MAX_NEIGHBOURS if _is_countable(scene) else 0):
        if limits.is_late:
            break
        found = mend(replace(scene, pinned=pinned), None, limits)
        if found.devices is None:
            break
        moved = {
            tenant.name
            for tenant, devices in zip(scene.tenants, found.devices, strict=True)
            if tenant.devices != devices
        }
        if moved | near not in sets:
            sets.append(moved | near)
        if not moved - near:
            break
        pinned |= moved - near
    return sets


def _wanted(wreck: DamagedPlan, scene: RepairProblem) -> list[list[list[RankedCircuit | None]]]:
    return [
        [
            [None if i in broken else beam for i, beam in enumerate(beams)]
            for beams, broken in zip(tenant.lights, wreck.broken[tenant.name], strict=True)
        ]
        for tenant in scene.tenants
    ]


def _written(wreck: DamagedPlan, scene: RepairProblem, found: RankRepair) -> Kept:
    if found.devices is None:
        return Kept(None, found.least_moves, found.least_changes, is_impossible=found.is_impossible)
    fabric = wreck.cluster.fabric
    named: dict[str, Assignment] = {}
    for t, (tenant, devices) in enumerate(zip(scene.tenants, found.devices, strict=True)):
        circuits = circuits_of(fabric, tenant, devices, found.beams[t]) if isinstance(fabric, Lightpath) else ()
        names = tuple(fabric.device_name(*device) for device in devices)
        named[tenant.name] = tenant.assignment.model_copy(update={"devices": names, "circuits": circuits})
    assignments = [named.get(a.job, a) for a in wreck.plan.assignments]
    return Kept(assignments, found.least_moves, found.least_changes)
