"""Large neighbourhood search (LNS): a few servers are planned anew while everything else stays as it is."""

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from planner.cpsat.lns.window import open_window
from planner.cpsat.search import Search
from planner.fabrics import plugin_of
from planner.fabrics.problem import Problem
from planner.model.clock import Clock
from planner.model.plan import Assignment
from planner.model.resident_plan import moved
from planner.model.result import SolveOptions

SERVERS = 3
"""of a neighbourhood; a cluster of no more is solved at once"""
MOST_WAITING = 6
"""jobs without a place that a neighbourhood may take in"""
SECONDS = 2.5
"""of one neighbourhood"""
MOST_PATIENCE = 1_000
"""neighbourhoods in a row that find nothing"""
Solver = Callable[[Problem, SolveOptions, Sequence[Assignment]], Sequence[Assignment]]
"""a problem, limits, and its plan so far -> one of no less value"""
Servers = tuple[tuple[int, ...], ...]
"""by rack, as many of each"""


def has_neighbourhoods(problem: Problem) -> bool:
    """True if a cluster is large, and every part of it belongs to one server."""
    cluster = problem.cluster
    return cluster.fabric.num_servers > SERVERS and plugin_of(cluster.fabric).windows.are_possible(cluster)


def improve(search: Search, solve: Solver, clock: Clock) -> None:
    """Better plans for the first objective, until the clock is over or many neighbourhoods in a row have none."""
    draw, problem = random.Random(search.options.seed), search.full
    patience = min(2 * problem.cluster.fabric.num_servers, MOST_PATIENCE)
    failures = 0
    while failures < patience and not clock.is_over and not search.is_stopped:
        found = _better(search, solve, _servers(draw, problem), draw, clock)
        failures = 0 if found else failures + 1
        if search.reaches("value"):
            return


def _servers(draw: random.Random, problem: Problem) -> Servers:
    """Some servers of one rack, or one of each of some racks."""
    fabric = problem.cluster.fabric
    racks = range(fabric.racks)
    if fabric.racks > 1 and (fabric.servers == 1 or draw.random() < 0.5):
        chosen = draw.sample(racks, min(SERVERS, fabric.racks))
        return tuple((rack * fabric.servers + draw.randrange(fabric.servers),) for rack in sorted(chosen))
    rack = draw.choice(racks)
    number = min(draw.choice((2, SERVERS)), fabric.servers)
    first = rack * fabric.servers
    return (tuple(sorted(draw.sample(range(first, first + fabric.servers), number))),)


def _better(search: Search, solve: Solver, servers: Servers, draw: random.Random, clock: Clock) -> bool:
    """Plan the jobs that lie in these servers anew, those over several racks apart, with some that wait; whether that
    helps."""
    problem = search.full
    assert search.assignments is not None
    index = {options.job.name: j for j, options in enumerate(problem.options)}
    inside = {server for rack in servers for server in rack}
    free, fixed = list[Assignment](), list[Assignment]()
    for assignment in search.assignments:
        options = problem.options[index[assignment.job]]
        is_in_rack = not options.can_stay and assignment.configuration.racks == 1
        is_free = is_in_rack and _touched(problem, assignment) <= inside
        (free if is_free else fixed).append(assignment)
    placed = {assignment.job for assignment in search.assignments}
    waiting = [j for name, j in index.items() if name not in placed]
    taken_in = draw.sample(waiting, min(MOST_WAITING, len(waiting)))
    if not free and not taken_in:
        return False
    limits = replace(
        search.options,
        time_limit_s=max(min(SECONDS, clock.left_s), 0.05),
        seed=draw.randrange(2**31),
        hint=None,
        on_incumbent=None,
    )
    jobs = [*(index[a.job] for a in free), *taken_in]
    found = [*fixed, *planned_anew(problem, solve, servers, fixed, free, jobs, limits)]
    if sum(a.value for a in found) <= sum(a.value for a in search.assignments) * (1 + 1e-9):
        return False
    search.assignments = tuple(found)
    search.report("value", search.bound, "neighbourhood")
    return True


def planned_anew(
    problem: Problem,
    solve: Solver,
    servers: Servers,
    fixed: Sequence[Assignment],
    start: Sequence[Assignment],
    jobs: Collection[int],
    limits: SolveOptions,
) -> list[Assignment]:
    """Some jobs on some servers beside what is fixed there, from a plan of them."""
    window = open_window(problem, fixed, servers, jobs)
    found = window.left(solve(window.problem, limits, window.entered(start)))
    return [moved(problem.instance, assignment) for assignment in found]


def _touched(problem: Problem, assignment: Assignment) -> set[int]:
    return {problem.cluster.fabric.parse_device(name)[0] for name in assignment.devices}
