"""From a pattern of step 1 to a plan: first fit, then the exact step 2 where first fit fails."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
from ortools.sat.python import cp_model

from costmodel.fabrics import Lightpath
from planner.cpsat.ranks import Ranks
from planner.cpsat.wavelengths import StepTwo
from planner.plan import Assignment, Circuit, HeldCircuits
from planner.problem import Problem
from planner.routing import Pattern, Slots, route_pattern

FOUND = (cp_model.OPTIMAL, cp_model.FEASIBLE)
RANKS_SHARE = 0.5
"""share of the limits for placing blocks before fibers and wavelengths are searched"""
MOST_PATHS = 20_000
"""pairs of slots of all circuits, where slots matter, up to which the exact model is built: each pair has a clause for
every boundary and wavelength, and more would take longer to write down than to search"""
MostLit = Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Realized:
    """Outcome of step 2: assignments; or the jobs whose choices exclude each other; or neither in time."""

    assignments: tuple[Assignment, ...] | None = None
    refuted: tuple[int, ...] = ()


@dataclass(frozen=True)
class StepTwoLimits:
    """Limits of one exact search."""

    time_limit_s: float
    deterministic_limit: float | None
    workers: int
    seed: int

    def solver(self, share: float = 1.0) -> cp_model.CpSolver:
        """A solver that may use a share of the limits."""
        solver = cp_model.CpSolver()
        solver.parameters.random_seed = self.seed
        solver.parameters.num_workers = self.workers
        if self.deterministic_limit is not None:
            solver.parameters.max_deterministic_time = share * self.deterministic_limit
        else:
            solver.parameters.max_time_in_seconds = share * self.time_limit_s
        return solver


def realize(problem: Problem, pattern: Pattern, limits: StepTwoLimits, most_lit: MostLit | None = None) -> Realized:
    """Ranks, devices and circuits for every job of the pattern.

    Jobs that share no light are independent: each group is tried by first fit, then exactly.
    """
    found = route_pattern(problem, pattern, most_lit)
    if found is not None:
        return Realized(tuple(found))
    if not isinstance(problem.cluster.fabric, Lightpath):
        raise AssertionError("counts that fit must be placeable on a fabric without circuits")
    staying = {j: problem.options[j].staying() for j, choice in pattern.items() if choice.stays}
    assignments: list[Assignment] = []
    for group in _groups(problem, pattern):
        part = {j: pattern[j] for j in (*staying, *group)}
        found = route_pattern(problem, part, most_lit)
        if found is not None:
            assignments += [a for a in found if a not in staying.values()]
            continue
        outcome = _search(problem, pattern, group, [*staying.values()], limits, most_lit)
        if outcome is None:
            return Realized()
        if isinstance(outcome, bool):
            return Realized(refuted=(*group, *staying))
        assignments += outcome
    return Realized(tuple(_reslotted(problem, [*staying.values()], assignments)))


def _groups(problem: Problem, pattern: Pattern) -> list[list[int]]:
    """Newly placed jobs, grouped where their circuits could meet: on a pair of servers, or on a server."""
    fabric = problem.cluster.fabric
    by_server = isinstance(fabric, Lightpath) and fabric.slots_matter
    graph: nx.Graph[object] = nx.Graph()
    for j, choice in pattern.items():
        if choice.stays:
            continue
        graph.add_node(j)
        servers = [server for server, _ in choice.blocks]
        if by_server:
            graph.add_edges_from((j, ("server", server)) for server in servers)
        else:
            graph.add_edges_from((j, ("pair", a, b)) for a in servers for b in servers if a < b)
    return [sorted(n for n in component if isinstance(n, int)) for component in nx.connected_components(graph)]


def _search(
    problem: Problem,
    pattern: Pattern,
    group: Sequence[int],
    staying: Sequence[Assignment],
    limits: StepTwoLimits,
    most_lit: MostLit | None,
) -> list[Assignment] | bool | None:
    """Assignments, False for a proof that there are none, None for no answer within the limits."""
    spanning = [j for j in group if len(pattern[j].blocks) > 1]
    ranks = Ranks(problem, pattern, spanning, staying)
    solver = limits.solver(share=RANKS_SHARE)
    status = _status(solver, ranks.cp)
    if status == cp_model.INFEASIBLE:
        return False
    if status in FOUND:
        part = {j: choice for j, choice in pattern.items() if choice.stays or j in group}
        found = route_pattern(problem, part, most_lit, ranks.layouts(solver))
        if found is not None:
            return [a for a in found if a not in staying]
    if _num_paths(problem, pattern, group) > MOST_PATHS:
        return None
    step = StepTwo(problem, pattern, group, staying, most_lit)
    solver = limits.solver()
    status = _status(solver, step.cp)
    if status in FOUND:
        return step.assignments(solver)
    return False if status == cp_model.INFEASIBLE else None


def _num_paths(problem: Problem, pattern: Pattern, group: Sequence[int]) -> int:
    """Pairs of slots between which the circuits of some jobs could run; 0 where slots do not matter."""
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    if not fabric.slots_matter:
        return 0
    slots = Slots(problem.cluster)
    total = 0
    for j in group:
        shape = problem.options[j].shapes[pattern[j].row]
        places = sum(len(slots.free(server, single=shape.num_ranks == 1)) for server, _ in pattern[j].blocks)
        total += places**2 * sum(len(circuits) for _, circuits in shape.configurations)
    return total


def _status(solver: cp_model.CpSolver, model: cp_model.CpModel) -> cp_model.CpSolverStatus:
    status = solver.solve(model)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(model.validate())
    return status


def _reslotted(problem: Problem, staying: Sequence[Assignment], assignments: Sequence[Assignment]) -> list[Assignment]:
    """Groups were placed apart: deal out the slots of each server once more, where slots do not matter."""
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    if fabric.slots_matter:
        return [*staying, *assignments]
    slots = Slots(problem.cluster)
    for assignment in staying:
        slots.take(map(fabric.parse_device, assignment.devices))
    result = list(staying)
    for assignment in assignments:
        names: dict[str, str] = {}
        for name in assignment.devices:
            server = fabric.parse_device(name)[0]
            slot = slots.free(server, single=len(assignment.devices) == 1)[0]
            slots.take([(server, slot)])
            names[name] = fabric.device_name(server, slot)
        result.append(renamed(assignment, names))
    return result


def renamed(assignment: Assignment, names: Mapping[str, str]) -> Assignment:
    """The assignment on other devices, its circuits with it."""

    def rename(circuit: Circuit) -> Circuit:
        return circuit.model_copy(update={"source": names[circuit.source], "destination": names[circuit.destination]})

    held = tuple(
        HeldCircuits(dimension=h.dimension, circuits=tuple(rename(c) for c in h.circuits)) for h in assignment.circuits
    )
    devices = tuple(names[name] for name in assignment.devices)
    return assignment.model_copy(update={"devices": devices, "circuits": held})
