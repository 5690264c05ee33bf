"""Objective values of given assignments, exactly as the model counts them."""

from collections.abc import Mapping, Sequence

from ortools.sat.python import cp_model

from planner.cpsat.step1.objectives.fragmentation import fit
from planner.fabrics import plugin_of
from planner.fabrics.free_slots import FreeSlots
from planner.fabrics.problem import JobOptions, Problem
from planner.formulation.solver import new_solver
from planner.formulation.variables import Pair
from planner.heuristics.free_room import most_packed, parts
from planner.model.cluster import Cluster
from planner.model.job import Resident
from planner.model.plan import Assignment

FIT_LIMIT = 10.0
"""deterministic limit of one fit"""
MOST_SEARCHED = 16
"""joined servers up to which it is searched: of more, the value may be too pessimistic"""


def evaluate(problem: Problem, assignments: Sequence[Assignment], objective: str) -> float:
    """Value of one objective in its own unit."""
    amounts = amounts_of(problem, assignments, objective)
    return fragmentation_of(problem, assignments) if amounts is None else sum(amounts)


def amounts_of(problem: Problem, assignments: Sequence[Assignment], objective: str) -> list[float] | None:
    """What each job adds to an objective; None where that is no sum."""
    by_name = {options.job.name: options for options in problem.options}
    if objective == "value":
        return [assignment.value for assignment in assignments]
    if objective == "moves":
        return [_move_cost(by_name[a.job]) for a in assignments if a.is_moved]
    if objective == "energy":
        return [_energy(by_name[a.job], a) for a in assignments]
    return None


def _move_cost(options: JobOptions) -> float:
    assert isinstance(options.job, Resident)
    return options.job.move_cost


def _energy(options: JobOptions, assignment: Assignment) -> float:
    row = options.row_of(assignment.configuration)
    assert row is not None
    return float(options.energy[row])


def fragmentation_of(problem: Problem, assignments: Sequence[Assignment]) -> float:
    """1 - sum over sizes of share x fit / floor(free / size) for what the assignments leave free."""
    cluster = problem.cluster
    slots = FreeSlots(cluster)
    for assignment in assignments:
        slots.take(map(cluster.fabric.parse_device, assignment.devices))
    free = [len(lit) for lit in slots.lit]
    dark = plugin_of(cluster.fabric).step_one.dark_fibers(cluster, assignments)
    lost = 0.0
    for size, share in problem.instance.sizes_to_fit.items():
        possible = sum(free) // size
        if size > 1 and possible:
            lost += share * (1 - jobs_that_fit(cluster, size, free, dark) / possible)
    return lost


def jobs_that_fit(
    cluster: Cluster, size: int, free: Sequence[int], dark: Mapping[Pair, int], limit: float = FIT_LIMIT
) -> int:
    """Jobs of a size that fit at once on free devices with a port by server and, where jobs hold circuits, dark fibers
    by ordered pair; where counting leaves a doubt, and few servers are joined, by search."""

    def may_span(a: int, b: int) -> bool:
        return not cluster.fabric.has_circuits or (dark.get((a, b), 0) > 0 < dark.get((b, a), 0))

    total = 0
    for part in parts(free, size, may_span):
        here = {server: free[server] for server in part}
        least = most_packed(here, size, may_span)
        is_searched = least < sum(here.values()) // size and len(part) <= MOST_SEARCHED
        total += max(least, _searched(cluster, size, part, free, dark, limit)) if is_searched else least
    return total


def _searched(
    cluster: Cluster, size: int, part: Sequence[int], free: Sequence[int], dark: Mapping[Pair, int], limit: float
) -> int:
    """The same on some servers alone; 0 where nothing was found in the limit."""
    number = {server: i for i, server in enumerate(part)}
    here = {(number[a], number[b]): count for (a, b), count in dark.items() if a in number and b in number}
    model = cp_model.CpModel()
    model.maximize(fit(model, size, [free[server] for server in part], here, cluster))
    solver = new_solver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = limit
    is_found = solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE)
    return round(solver.objective_value) if is_found else 0
