"""Values of the objectives, from instance and plan alone."""

from collections.abc import Callable, Sequence
from math import sqrt

from planner.checks.fitting import Links, jobs_between
from planner.checks.judged import Judged, judged
from planner.checks.moved import movers
from planner.checks.names import Tile, admitted, once, tiles_in
from planner.fabrics import plugin_of
from planner.model.instance import Instance
from planner.model.job import Job, Resident
from planner.model.plan import Plan

ROUNDING = 1e-9
"""relative; speeds of one configuration may differ in the last digits with the rows they are scored among"""


def objective_values(instance: Instance, plan: Plan) -> dict[str, float]:
    """Value of each objective of the instance, in its order."""
    return {each.name: OBJECTIVES[each.name](instance, plan) for each in instance.objectives}


def value(instance: Instance, plan: Plan) -> float:
    """Sum of weight x utility over admitted jobs."""
    return sum(worth or 0.0 for worth in worths(instance, plan))


@once
def worths(instance: Instance, plan: Plan) -> Sequence[float | None]:
    """Weight x g(speed / that of the reference, or the fastest listed) of each admitted job; None for what cannot be
    priced."""
    return [
        _worth(job, found) for (job, _), found in zip(admitted(instance, plan), judged(instance, plan), strict=True)
    ]


def _worth(job: Job, found: Judged) -> float | None:
    if found.price is None or found.full_speed is None:
        return None
    share = found.price.speed / found.full_speed
    if job.utility == "step":
        return job.weight if share >= job.step_at * (1 - ROUNDING) else 0.0
    return job.weight * (sqrt(share) if job.utility == "sqrt" else share)


def moves(instance: Instance, plan: Plan) -> float:
    """Sum of move_cost over residents that do not stay exactly as they are."""
    moved = movers(instance, plan)
    return sum(job.move_cost for job, _ in admitted(instance, plan) if isinstance(job, Resident) and job.name in moved)


def energy(instance: Instance, plan: Plan) -> float:
    """Sum of weight x energy per unit of work / that of the reference, or the least listed one, over admitted jobs."""
    total = 0.0
    for (job, _), found in zip(admitted(instance, plan), judged(instance, plan), strict=True):
        if found.price and found.least_energy:
            total += job.weight * found.price.energy_per_work / found.least_energy
    return total


def fragmentation(instance: Instance, plan: Plan) -> float:
    """The upper one of `fragmentation_between`: what surely fits."""
    return fragmentation_between(instance, plan)[1]


def fragmentation_between(instance: Instance, plan: Plan) -> tuple[float, float]:
    r"""Bounds on $1 - \sum_s p_s fit(s) / \lfloor free / s \rfloor$, a term without room for one job counting p_s;
    they are equal where few servers have free devices."""
    fabric, health = instance.cluster.fabric, instance.cluster.health
    used = {tile for _, a in admitted(instance, plan) for tile in tiles_in(instance.cluster, a.devices)}
    used |= tiles_in(instance.cluster, health.failed_tiles)
    every = {(s, t) for s in range(fabric.num_servers) for t in range(fabric.devices_per_server)}
    lit = every - used - tiles_in(instance.cluster, health.failed_ports)
    links = plugin_of(fabric).rules.pairs_to_span(instance, plan)
    least = most = 0.0
    for size, share in instance.sizes_to_fit.items():
        room = len(lit) // size if size > 1 else 0
        fit = _fit(instance, lit, links, size) if room else (1, 1)
        least, most = least + share * fit[0] / max(room, 1), most + share * fit[1] / max(room, 1)
    return 1.0 - most, 1.0 - least


def _fit(instance: Instance, lit: set[Tile], links: list[Links], size: int) -> tuple[int, int]:
    """Bounds on the most jobs of one size >= 2, summed over the groups of servers that jobs may use together."""
    fabric = instance.cluster.fabric
    counts = [0] * fabric.num_servers
    for server, _ in lit:
        counts[server] += 1
    together = fabric.num_servers // len(links)
    racks = [counts[first : first + together] for first in range(0, fabric.num_servers, together)]
    fits = [jobs_between(tuple(free), joined, size) for free, joined in zip(racks, links, strict=True)]
    return sum(least for least, _ in fits), sum(most for _, most in fits)


OBJECTIVES: dict[str, Callable[[Instance, Plan], float]] = {
    "value": value,
    "moves": moves,
    "energy": energy,
    "fragmentation": fragmentation,
}
