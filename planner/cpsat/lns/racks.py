"""Racks planned anew apart from each other, on the machines of a Ray cluster: neighbourhoods of whole racks, in rounds.

In a round every rack, alone or with another one, is offered the jobs that lie there, and some that wait. No job is
offered twice, so that what is found fits together. Racks whose worker is lost stay as they are.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from planner.cpsat.lns.neighbourhood import Solver, planned_anew
from planner.cpsat.search import Search
from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
from planner.model.clock import Clock
from planner.model.plan import Assignment
from planner.model.result import SolveOptions
from planner.sweep.over_ray import LostCellError, RayCluster
from planner.sweep.types import ShouldStop

TOGETHER = (1, 2, 2, 1, 2, 2)
"""racks of a neighbourhood by round; the time is divided among the rounds that are left"""
PATIENCE = 3
"""rounds in a row that find nothing"""
LEAST_S, MOST_S = 0.5, 10.0
"""seconds of a neighbourhood"""
MOST_WAITING = 6
"""jobs without a place that a rack is offered in a round"""
LATE_S = 1.0
"""seconds of a round in which what was found comes back"""


@dataclass(frozen=True)
class Racks:
    """What some racks are asked in a round."""

    numbers: tuple[int, ...]
    fixed: tuple[Assignment, ...]
    """jobs that keep what they hold there"""
    start: tuple[Assignment, ...]
    """jobs that lie there and nowhere else"""
    waiting: tuple[int, ...]
    seed: int
    time_limit_s: float


@dataclass(frozen=True)
class Shared:
    """What all racks of all rounds are told."""

    problem: Problem
    solve: Solver
    options: SolveOptions


def has_racks(problem: Problem) -> bool:
    """True if there are several racks, each a problem of its own."""
    cluster = problem.cluster
    return cluster.fabric.racks > 1 and plugin_of(cluster.fabric).windows.racks_are(cluster)


def improve_racks(search: Search, solve: Solver, clock: Clock, cluster: RayCluster) -> None:
    """Better plans for the value, until the clock is over or some rounds in a row find none."""
    draw, failures = random.Random(search.options.seed), 0
    options = replace(search.options, hint=None, on_incumbent=None, should_stop=bool, ray=None, workers=1)
    given = cluster.sharing(plan_racks, Shared(search.full, solve, options))
    for number, together in enumerate(TOGETHER):
        if clock.is_over or search.is_stopped or search.is_near or failures == PATIENCE:
            return
        round_s = clock.left_s / (len(TOGETHER) - number) - LATE_S
        waves = -(-search.full.cluster.fabric.racks // (together * cluster.num_cores))
        asked = asked_of(search, draw, together, min(max(round_s / waves, LEAST_S), MOST_S))
        failures = 0 if _round(search, cluster, given, asked, clock) else failures + 1


def _round(search: Search, cluster: RayCluster, given: list[Any], asked: Sequence[Racks], clock: Clock) -> bool:
    """Whether any racks found more, or were lost and may find it in another round."""
    is_better = False
    try:
        for racks, document in cluster.finished(given, asked, 1, partial(_left_s, clock)):
            is_better |= _adopt(search, racks, document["assignments"])
    except LostCellError:
        return True
    return is_better


def _left_s(clock: Clock) -> float:
    return max(clock.left_s, 0.0)


def _adopt(search: Search, racks: Racks, found: Sequence[Assignment]) -> bool:
    """Whether what racks found is worth more than what lay there; it is in the plan then."""
    assert search.assignments is not None
    before = sum(a.value for a in racks.start)
    if sum(a.value for a in found) <= before + 1e-9 * abs(before):
        return False
    left = {assignment.job for assignment in racks.start}
    search.assignments = (*(a for a in search.assignments if a.job not in left), *found)
    search.report("value", search.bound, "racks")
    return True


def asked_of(search: Search, draw: random.Random, together: int, time_limit_s: float) -> list[Racks]:
    """What all racks are asked, so many of them together. Racks where jobs that stay hold parts between servers are
    left alone."""
    assert search.assignments is not None
    problem = search.full
    windows, racks = plugin_of(problem.cluster.fabric).windows, range(problem.cluster.fabric.racks)
    start: list[list[Assignment]] = [[] for _ in racks]
    fixed: list[list[Assignment]] = [[] for _ in racks]
    options = problem.options_by_name
    for assignment in search.assignments:
        touched = _racks(problem, assignment.devices)
        is_free = len(touched) == 1 and not options[assignment.job].can_stay
        for rack in touched:
            (start if is_free else fixed)[rack].append(assignment)
    may_fix = windows.may_keep(problem.cluster)
    free = [rack for rack in racks if may_fix or not fixed[rack]]
    draw.shuffle(free)
    groups, asked = [free[first : first + together] for first in range(0, len(free), together)], []
    for group, waiting in zip(groups, _dealt(search, draw, len(groups), MOST_WAITING * together), strict=True):
        inside, kept = (tuple(a for rack in group for a in each[rack]) for each in (start, fixed))
        if inside or waiting:
            kept = tuple({assignment.job: assignment for assignment in kept}.values())
            limits = draw.randrange(2**31), time_limit_s
            asked.append(Racks(tuple(sorted(group)), kept, inside, tuple(waiting), *limits))
    return asked


def _dealt(search: Search, draw: random.Random, num_hands: int, most: int) -> list[list[int]]:
    """Jobs that wait, in so many hands of a few each: those of the most value per accelerator."""
    assert search.assignments is not None
    placed = {assignment.job for assignment in search.assignments}
    waiting = [j for j, options in enumerate(search.full.options) if options.job.name not in placed and len(options)]
    density = {j: float((o.value / o.candidates.num_devices).max()) for j in waiting for o in [search.full.options[j]]}
    chosen = sorted(waiting, key=lambda j: -density[j])[: most * num_hands]
    draw.shuffle(chosen)
    return [chosen[hand::num_hands] for hand in range(num_hands)]


def _racks(problem: Problem, devices: Iterable[str]) -> set[int]:
    fabric = problem.cluster.fabric
    return {fabric.rack_of(fabric.parse_device(name)[0]) for name in devices}


def plan_racks(shared: Shared, racks: Racks, should_stop: ShouldStop) -> dict[str, Any]:
    """Racks planned anew."""
    problem, size = shared.problem, shared.problem.cluster.fabric.servers
    index = {options.job.name: j for j, options in enumerate(problem.options)}
    servers = tuple(tuple(range(rack * size, (rack + 1) * size)) for rack in racks.numbers)
    jobs = [*(index[assignment.job] for assignment in racks.start), *racks.waiting]
    limits = replace(shared.options, time_limit_s=racks.time_limit_s, seed=racks.seed, should_stop=should_stop)
    found = planned_anew(problem, shared.solve, servers, racks.fixed, racks.start, jobs, limits)
    return {"assignments": tuple(found)}
