"""No repair keeps every job as it runs: one job or several give way, to run smaller or elsewhere, or not at all."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import chain

from planner.candidates.expand import list_options
from planner.cpsat.repair import RepairLimits
from planner.fabrics.free_state import FreeState
from planner.fabrics.problem import must_run
from planner.fabrics.renamed import renamed
from planner.fabrics.search import Search
from planner.formulation.quantize import exact
from planner.heuristics.greedy import place
from planner.heuristics.strategies import tightest
from planner.model.cluster import Cluster, Condition
from planner.model.plan import Assignment, Plan
from planner.whatif.repair.damaged_plan import DamagedPlan
from planner.whatif.repair.search import keep_all

MAX_VICTIMS = 16
"""jobs that are asked to give way, those that lost a part first, then the least valuable first; and the most that do so
together"""


def shed_job(damage: DamagedPlan, limits: RepairLimits) -> list[Assignment] | None:
    """Assignments of the greatest total value found when one job, every touched one, or the least valuable ones that
    make room together give way; None if none."""
    best: list[Assignment] | None = None

    def lost() -> Fraction | None:
        return None if best is None else _value(damage.plan.assignments) - _value(best)

    for is_quick in (True, False):
        for victims in chain(_alone_or_touched(damage), _least_valuable(damage, lost)):
            found = _without(damage, victims, limits, is_quick)
            if found is not None and (best is None or _worth(damage, found) > _worth(damage, best)):
                best = found
            if limits.is_late and (best is not None or not is_quick):
                return best
    return best


def _alone_or_touched(damage: DamagedPlan) -> Iterator[tuple[Assignment, ...]]:
    ordered = sorted(damage.plan.assignments, key=lambda a: (a.job not in damage.touched, a.value, a.job))
    for assignment in ordered[:MAX_VICTIMS]:
        yield (assignment,)
    touched = tuple(a for a in ordered if a.job in damage.touched)
    if len(touched) > 1:
        yield touched


def _least_valuable(damage: DamagedPlan, lost: Callable[[], Fraction | None]) -> Iterator[tuple[Assignment, ...]]:
    """Two of all jobs that may be left out, three, and so on, as long as they are worth less than what is lost."""
    instance = damage.instance
    optional = (a for a in damage.plan.assignments if not must_run(instance.job(a.job)))
    ordered = sorted(optional, key=lambda a: (a.value, a.job))[:MAX_VICTIMS]
    for number in range(2, len(ordered) + 1):
        victims, now = ordered[:number], lost()
        if now is not None and _value(victims) >= now:
            return
        yield tuple(victims)


def _value(assignments: Iterable[Assignment]) -> Fraction:
    return sum((exact(a.value) for a in assignments), Fraction(0))


def _worth(damage: DamagedPlan, found: Sequence[Assignment]) -> tuple[Fraction, int]:
    """Total value, then how many ranks stay."""
    return _value(found), -num_moves(damage.plan, found)


def num_moves(before: Plan, after: Sequence[Assignment]) -> int:
    """Ranks of the new assignments that lie on another device than the same rank did."""
    old = {a.job: a.devices for a in before.assignments}
    count = 0
    for assignment in after:
        places = old.get(assignment.job, ())
        count += sum(rank >= len(places) or places[rank] != d for rank, d in enumerate(assignment.devices))
    return count


def _without(
    damage: DamagedPlan, victims: Sequence[Assignment], limits: RepairLimits, is_quick: bool
) -> list[Assignment] | None:
    """All other jobs repaired, then the victims, those that must run and the most valuable first, with their most
    valuable candidate that fits, if any."""
    instance = damage.instance
    names = {victim.job for victim in victims}
    rest = Plan(
        instance=damage.plan.instance, assignments=tuple(a for a in damage.plan.assignments if a.job not in names)
    )
    kept = keep_all(DamagedPlan(instance, rest), limits, is_quick=is_quick)
    if kept.assignments is None:
        return None
    found = list(kept.assignments)
    free = FreeState.empty(instance.cluster)
    for assignment in found:
        free.take_named(assignment)
    for victim in sorted(victims, key=lambda a: (not must_run(instance.job(a.job)), -a.value, a.job)):
        options = list_options(instance, instance.job(victim.job))
        placed = None if options.must_stay else place(free, options, Search(tightest), options.rows_by_value())
        if placed is not None:
            found.append(placed)
        elif options.must_run:
            return None
    found = at_former_devices(instance.cluster, damage.plan, found)
    return found if damage.leaves_ports(found) else None


def at_former_devices(cluster: Cluster, before: Plan, after: Sequence[Assignment]) -> list[Assignment]:
    """The same assignments, each rank on the device it had wherever it is still on that server.

    Only the devices that changed hands are dealt out again, among devices that are alike. Where slots matter
    nothing is.
    """
    fabric = cluster.fabric
    if fabric.places_whole_jobs or fabric.slots_matter:
        return list(after)
    old = {a.job: a.devices for a in before.assignments}
    same = {a.job for a in after if a.devices == old.get(a.job)}
    pool = {name for a in after if a.job not in same for name in a.devices}
    wanted = {
        (a.job, rank): old[a.job][rank]
        for a in after
        if a.job not in same and a.job in old
        for rank, name in enumerate(a.devices[: len(old[a.job])])
        if old[a.job][rank] in pool and _kind(cluster, old[a.job][rank]) == _kind(cluster, name)
    }
    left = sorted(pool.difference(wanted.values()), key=fabric.parse_device)
    result = []
    for assignment in after:
        names: dict[str, str] = {}
        for rank, name in enumerate(assignment.devices):
            if assignment.job in same:
                names[name] = name
                continue
            kind = _kind(cluster, name)
            names[name] = wanted.get((assignment.job, rank)) or next(n for n in left if _kind(cluster, n) == kind)
            if names[name] in left:
                left.remove(names[name])
        result.append(renamed(assignment, names))
    return result


def _kind(cluster: Cluster, name: str) -> tuple[int, Condition]:
    """Devices of a kind are alike: server, and what has failed of them."""
    device = cluster.fabric.parse_device(name)
    return device[0], cluster.condition(device)
