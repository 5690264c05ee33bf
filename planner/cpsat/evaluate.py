"""Objective values of given assignments, exactly as the model counts them."""

from collections.abc import Sequence

from ortools.sat.python import cp_model

from costmodel.fabrics import Lightpath
from planner.circuits.light import Light
from planner.cluster import Cluster
from planner.cpsat.objectives.fragmentation import fit
from planner.cpsat.solver import new_solver
from planner.heuristics.routing import Slots
from planner.instance import Resident
from planner.plan import Assignment
from planner.problem import JobOptions, Problem

FIT_LIMIT = 10.0
"""deterministic limit of one fit: beyond dozens of servers the value may then be too pessimistic"""


def evaluate(problem: Problem, assignments: Sequence[Assignment], objective: str) -> float:
    """Value of one objective in its own unit."""
    by_name = {options.job.name: options for options in problem.options}
    if objective == "value":
        return sum(assignment.value for assignment in assignments)
    if objective == "moves":
        return sum(_move_cost(by_name[a.job]) for a in assignments if a.is_moved)
    if objective == "energy":
        return sum(_energy(by_name[a.job], a) for a in assignments)
    return fragmentation_of(problem, assignments)


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
    slots = Slots(cluster)
    for assignment in assignments:
        slots.take(map(cluster.fabric.parse_device, assignment.devices))
    free = [len(lit) for lit in slots.lit]
    dark: dict[tuple[int, int], int] = {}
    if isinstance(cluster.fabric, Lightpath):
        light = Light(cluster)
        for assignment in assignments:
            light.commit(assignment.circuits)
        servers = range(cluster.fabric.num_servers)
        dark = {(a, b): light.dark_fibers(a, b) for a in servers for b in servers if light.ways.fibers(a, b)}
    lost = 0.0
    for size, share in problem.instance.sizes_to_fit.items():
        possible = sum(free) // size
        if size > 1 and possible:
            lost += share * (1 - jobs_that_fit(cluster, size, free, dark) / possible)
    return lost


def jobs_that_fit(
    cluster: Cluster, size: int, free: list[int], dark: dict[tuple[int, int], int], limit: float = FIT_LIMIT
) -> int:
    """Jobs of a size that fit at once on free devices with a port by server and, where jobs hold circuits, dark fibers
    by ordered pair; only if one server each does not reach what is possible, by search."""
    alone, possible = sum(devices // size for devices in free), sum(free) // size
    if alone == possible:
        return possible
    model = cp_model.CpModel()
    model.maximize(fit(model, size, free, dark, cluster))
    solver = new_solver()
    solver.parameters.num_workers = 1
    solver.parameters.max_deterministic_time = limit
    if solver.solve(model) not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return alone
    return round(solver.objective_value)
