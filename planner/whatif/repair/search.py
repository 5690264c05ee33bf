"""Every job keeps its configuration: the fewest ranks that move, then the fewest circuits that change."""

from dataclasses import dataclass, replace

from planner.cpsat.repair import RankRepair, RepairLimits, RepairProblem, fewest_moves
from planner.fabrics import plugin_of
from planner.fabrics.ranked_circuits import RankedCircuit
from planner.model.plan import Assignment
from planner.whatif.repair.damaged_plan import DamagedPlan
from planner.whatif.repair.place_anew import place_anew
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


def keep_all(damage: DamagedPlan, limits: RepairLimits, *, is_quick: bool = False) -> Kept:
    """The jobs of a plan on what is left; spare devices first, then search unless it must be quick."""
    bounds = damage.least_moves, damage.least_changes
    if damage.is_placed_anew:
        assignments, is_impossible = place_anew(damage, limits, is_quick=is_quick)
        return Kept(assignments, *bounds, is_impossible)
    quick = use_spares(damage, keep_light=True)
    if quick is not None and damage.leaves_ports(quick):
        return Kept(quick, *bounds)
    if is_quick or limits.is_late or _is_overfull(damage):
        return Kept(None, damage.least_moves, 0, is_impossible=_is_overfull(damage))
    problem = damage.problem([tenant.name for tenant in damage.tenants])
    bound = fewest_moves(problem, None, limits) if _is_countable(problem) else RankRepair()
    if bound.is_impossible:
        return Kept(None, damage.least_moves, 0, is_impossible=True)
    if problem.size <= _most_literals(limits, SMALL):
        found = fewest_moves(problem, _wanted(damage, problem), limits)
        if found.devices is not None or found.is_impossible:
            return _written(damage, problem, found)
    routed = use_spares(damage, keep_light=False)
    if routed is not None and damage.leaves_ports(routed):
        return Kept(routed, *bounds)
    return _around(damage, problem, max(bound.least_moves, damage.least_moves), limits)


def _is_countable(problem: RepairProblem) -> bool:
    """True if all jobs can be searched at once where light is left aside: a literal for each rank and server."""
    ranks = sum(len(tenant.devices) for tenant in problem.tenants)
    return ranks * (problem.cluster.fabric.num_servers + 1) <= LARGE


def _is_overfull(damage: DamagedPlan) -> bool:
    """True if there are fewer healthy devices than ranks, or fewer with a port than ranks of larger jobs."""
    cluster = damage.cluster
    sizes = [len(tenant.devices) for tenant in damage.tenants]
    num_lit = cluster.num_healthy - len(cluster.dark_devices)
    return sum(sizes) > cluster.num_healthy or sum(size for size in sizes if size > 1) > num_lit


def _around(damage: DamagedPlan, problem: RepairProblem, least: int, limits: RepairLimits) -> Kept:
    """Jobs are moved out of the way: those that a search without light names, then others instead."""
    for names in _neighbourhoods(damage, problem, set(damage.touched), limits):
        part = damage.problem(names)
        if part.size > _most_literals(limits, LARGE):
            continue
        found = fewest_moves(part, _wanted(damage, part), limits)
        if found.devices is not None:
            written = _written(damage, part, found)
            return replace(written, least_moves=least, least_changes=damage.least_changes)
    return Kept(None, least, 0)


def _most_literals(limits: RepairLimits, most: int) -> float:
    """Of a model that leaves time for its search."""
    return min(most, LITERALS_PER_S * limits.seconds_left)


def _neighbourhoods(
    damage: DamagedPlan, problem: RepairProblem, near: set[str], limits: RepairLimits
) -> list[set[str]]:
    """Sets of jobs to search: those that lost something alone, then with others that make room."""
    sets, pinned = [near], problem.pinned
    for _ in range(MAX_NEIGHBOURS if _is_countable(problem) else 0):
        if limits.is_late:
            break
        found = fewest_moves(replace(problem, pinned=pinned), None, limits)
        if found.devices is None:
            break
        moved = {
            tenant.name
            for tenant, devices in zip(problem.tenants, found.devices, strict=True)
            if tenant.devices != devices
        }
        if moved | near not in sets:
            sets.append(moved | near)
        if not moved - near:
            break
        pinned |= moved - near
    return sets


def _wanted(damage: DamagedPlan, problem: RepairProblem) -> list[list[list[RankedCircuit | None]]]:
    return [
        [
            [None if i in broken else beam for i, beam in enumerate(beams)]
            for beams, broken in zip(tenant.lights, damage.broken[tenant.name], strict=True)
        ]
        for tenant in problem.tenants
    ]


def _written(damage: DamagedPlan, problem: RepairProblem, found: RankRepair) -> Kept:
    if found.devices is None:
        return Kept(None, found.least_moves, found.least_changes, is_impossible=found.is_impossible)
    fabric = damage.cluster.fabric
    named: dict[str, Assignment] = {}
    for t, (tenant, devices) in enumerate(zip(problem.tenants, found.devices, strict=True)):
        circuits = plugin_of(fabric).spares.circuits(fabric, tenant, devices, found.beams[t] if found.beams else ())
        names = tuple(fabric.device_names(devices))
        named[tenant.name] = tenant.assignment.model_copy(update={"devices": names, "circuits": circuits})
    assignments = [named.get(a.job, a) for a in damage.plan.assignments]
    return Kept(assignments, found.least_moves, found.least_changes)
