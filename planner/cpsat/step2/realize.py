"""From a pattern of step 1 to a plan: first fit, then the exact step 2 where first fit fails."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import networkx as nx
from ortools.sat.python import cp_model

from costmodel.fabrics import Lightpath, OcsRail, Sipam, SlicedFabric
from costmodel.fabrics.sliced import Held
from planner.fabrics.free_slots import FreeSlots
from planner.fabrics.free_state import FreeState, Pattern, route_pattern
from planner.fabrics.lightpath.routes import Routes
from planner.fabrics.lightpath.step2_ranks import Ranks
from planner.fabrics.lightpath.step2_rwa import StepTwo
from planner.fabrics.ocs_rail.free_state import RailFreeState
from planner.fabrics.ocs_rail.step2 import pack_rails
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.step2 import pack_pool
from planner.fabrics.slices.free_state import SlicedFreeState
from planner.fabrics.slices.step2 import pack_slices
from planner.formulation.solver import new_solver
from planner.model.cluster import Cluster
from planner.model.plan import Assignment, Circuit, HeldCircuits

FOUND = (cp_model.OPTIMAL, cp_model.FEASIBLE)
RANKS_SHARE = 0.5
"""share of the limits for placing blocks before fibers and wavelengths are searched"""
MOST_PATHS = 6_000
"""pairs of slots of all circuits, where slots matter, up to which the exact model is built: each pair has a clause for
every boundary and wavelength, and more would take longer to write down than to search"""
MostLit = Mapping[tuple[int, int], int]
Packed = TypeVar("Packed")
"""what was packed for one job: its rails, or its slices"""


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
        solver = new_solver()
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
    if isinstance(problem.cluster.fabric, OcsRail):
        return _on_rails(problem, pattern, limits)
    if isinstance(problem.cluster.fabric, Sipam):
        packed = pack_pool(problem, pattern, limits.solver)
        return Realized(packed.assignments, packed.refuted)
    if isinstance(problem.cluster.fabric, SlicedFabric):
        return _on_slices(problem, pattern, limits)
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


def _on_rails(problem: Problem, pattern: Pattern, limits: StepTwoLimits) -> Realized:
    """Rails first, then jobs without circuits."""
    packed = pack_rails(problem, pattern, limits.solver)
    if packed.rails is None:
        return Realized(refuted=packed.refuted)

    def realize_on(board: FreeState, j: int, rails: Sequence[int]) -> Assignment | None:
        choice = pattern[j]
        assert isinstance(board, RailFreeState)
        return board.realize_on_rails(problem.options[j], choice.row, [s for s, _ in choice.blocks], rails)

    return _then_others(problem, pattern, packed.rails, realize_on)


def _on_slices(problem: Problem, pattern: Pattern, limits: StepTwoLimits) -> Realized:
    """Slices first, then jobs whose ranks send nothing."""
    packed = pack_slices(problem, pattern, limits.solver)
    if packed.held is None:
        return Realized(refuted=packed.refuted)

    def realize_on(board: FreeState, j: int, held: Sequence[Held]) -> Assignment:
        assert isinstance(board, SlicedFreeState)
        return board.realize_on_slices(problem.options[j], pattern[j].row, held)

    return _then_others(problem, pattern, packed.held, realize_on)


def _then_others(
    problem: Problem,
    pattern: Pattern,
    packed: Mapping[int, Packed],
    realize_on: Callable[[FreeState, int, Packed], Assignment | None],
) -> Realized:
    """Residents that stay and what was packed; the other jobs then take whatever is left on their servers, single
    devices last."""
    board = FreeState.empty(problem.cluster)
    assignments = [problem.options[j].staying() for j, choice in pattern.items() if choice.stays]
    for assignment in assignments:
        board.take(assignment)
    for j, places in packed.items():
        found = realize_on(board, j, places)
        assert found is not None
        assignments.append(found)
    others = [j for j, choice in pattern.items() if not choice.stays and j not in packed]
    for j in sorted(others, key=lambda j: problem.options[j].shapes[pattern[j].row].num_ranks, reverse=True):
        found = board.realize(problem.options[j], pattern[j].row, pattern[j].blocks)
        assert found is not None, "what is packed must leave enough for the other jobs"
        assignments.append(found)
    return Realized(tuple(assignments))


def _groups(problem: Problem, pattern: Pattern) -> list[list[int]]:
    """Newly placed jobs, grouped where they could meet: on fibers, or on servers whose slots are not alike.

    Circuits that may cross third servers could meet all others of their rack.
    """
    cluster, fabric = problem.cluster, problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    uneven = _uneven(cluster)
    graph: nx.Graph[object] = nx.Graph()
    for j, choice in pattern.items():
        if choice.stays:
            continue
        graph.add_node(j)
        servers = [server for server, _ in choice.blocks]
        graph.add_edges_from((j, ("server", server)) for server in servers if fabric.slots_matter or server in uneven)
        if len(servers) > 1 and fabric.most_hops > 1:
            first = fabric.rack_of(servers[0]) * fabric.servers
            graph.add_edges_from((j, ("server", server)) for server in range(first, first + fabric.servers))
        else:
            graph.add_edges_from((j, ("pair", a, b)) for a in servers for b in servers if a < b)
    return [sorted(n for n in component if isinstance(n, int)) for component in nx.connected_components(graph)]


def _uneven(cluster: Cluster) -> set[int]:
    """Servers some of whose devices cannot use all wavelengths: all jobs there are placed together."""
    return {server for server, _ in (*cluster.failed_lasers, *cluster.failed_receivers)}


def is_beyond_search(problem: Problem, pattern: Pattern) -> bool:
    """Whether some jobs of a pattern are too many to be searched exactly, because slots matter."""
    return problem.cluster.fabric.slots_matter and any(
        _is_beyond(problem, pattern, g) for g in _groups(problem, pattern)
    )


def _is_beyond(problem: Problem, pattern: Pattern, group: Sequence[int]) -> bool:
    return problem.cluster.fabric.slots_matter and _num_paths(problem, pattern, group) > MOST_PATHS


def _search(
    problem: Problem,
    pattern: Pattern,
    group: Sequence[int],
    staying: Sequence[Assignment],
    limits: StepTwoLimits,
    most_lit: MostLit | None,
) -> list[Assignment] | bool | None:
    """Assignments, False for a proof that there are none, None for no answer within the limits."""
    if _is_beyond(problem, pattern, group):
        return None
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
    """Ways between slots, or servers where slots do not matter, that the circuits of some jobs could take.

    0 where neither slots matter nor servers are crossed.
    """
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    ways = Routes(problem.cluster)
    if not fabric.slots_matter and not ways.may_cross:
        return 0
    slots = FreeSlots(problem.cluster)
    total = 0
    for j in group:
        shape, servers = problem.options[j].shapes[pattern[j].row], [server for server, _ in pattern[j].blocks]
        places = len(servers)
        if fabric.slots_matter:
            places = sum(len(slots.free(server, single=shape.num_ranks == 1)) for server in servers)
        crossed = [ways.most_routes(a, b) for a in servers for b in servers if a != b] if ways.may_cross else []
        total += max(crossed, default=1) * places**2 * sum(len(circuits) for _, circuits in shape.configurations)
    return total


def _status(solver: cp_model.CpSolver, model: cp_model.CpModel) -> cp_model.CpSolverStatus:
    status = solver.solve(model)
    if status == cp_model.MODEL_INVALID:
        raise RuntimeError(model.validate())
    return status


def _reslotted(problem: Problem, staying: Sequence[Assignment], assignments: Sequence[Assignment]) -> list[Assignment]:
    """Groups were placed apart: deal out the slots of each server once more, where they are alike."""
    fabric = problem.cluster.fabric
    assert isinstance(fabric, Lightpath)
    if fabric.slots_matter:
        return [*staying, *assignments]
    slots = FreeSlots(problem.cluster)
    for assignment in staying:
        slots.take(map(fabric.parse_device, assignment.devices))
    result = list(staying)
    for assignment in assignments:
        names: dict[str, str] = {}
        for name in assignment.devices:
            server, slot = fabric.parse_device(name)
            if server not in _uneven(problem.cluster):
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
