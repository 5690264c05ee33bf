"""Step 2 on rails: which rails each job takes, the same on all its servers, no device twice."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
from ortools.sat.python import cp_model

from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import Pattern
from planner.fabrics.ocs_rail.free_state import RailFreeState
from planner.fabrics.problem import Problem

Solver = Callable[[], cp_model.CpSolver]


@dataclass(frozen=True)
class PackedRails:
    """Rails of each job; or jobs that exclude each other; or neither in time."""

    rails: Mapping[int, tuple[int, ...]] | None = None
    refuted: tuple[int, ...] = ()


def pack_rails(problem: Problem, pattern: Pattern, solver: Solver) -> PackedRails:
    """Rails of all jobs of a pattern that need them, beside the residents that stay; exact in the solver's time."""
    board = RailFreeState(problem.cluster)
    staying = tuple(j for j, choice in pattern.items() if choice.stays)
    for j in staying:
        board.take(problem.options[j].staying())
    rails: dict[int, tuple[int, ...]] = {}
    for group in _groups(problem, pattern):
        status, found = _solve(problem, pattern, group, board, solver())
        if status == cp_model.INFEASIBLE:
            return PackedRails(refuted=(*_core(problem, pattern, group, board, solver), *staying))
        if found is None:
            return PackedRails()
        rails |= found
    return PackedRails(rails)


def _groups(problem: Problem, pattern: Pattern) -> Iterator[list[int]]:
    """Jobs with circuits that share servers, directly or over others."""
    graph: nx.Graph[object] = nx.Graph()
    for j, choice in pattern.items():
        if not choice.stays and problem.options[j].shapes[choice.row].num_ports:
            graph.add_edges_from((j, ("server", server)) for server, _ in choice.blocks)
    for component in nx.connected_components(graph):
        yield sorted(n for n in component if isinstance(n, int))


def _core(problem: Problem, pattern: Pattern, group: Sequence[int], board: RailFreeState, solver: Solver) -> list[int]:
    """Jobs of a group that exclude each other, none of which can be spared."""
    kept = list(group)
    for j in group:
        fewer = [other for other in kept if other != j]
        if _solve(problem, pattern, fewer, board, solver())[0] == cp_model.INFEASIBLE:
            kept = fewer
    return kept


def _solve(
    problem: Problem, pattern: Pattern, group: Sequence[int], board: RailFreeState, solver: cp_model.CpSolver
) -> tuple[cp_model.CpSolverStatus, dict[int, tuple[int, ...]] | None]:
    cp = cp_model.CpModel()
    takers: defaultdict[Device, list[cp_model.IntVar]] = defaultdict(list)
    chosen: dict[int, dict[int, cp_model.IntVar]] = {}
    for j in group:
        shape, servers = problem.options[j].shapes[pattern[j].row], [server for server, _ in pattern[j].blocks]
        rails = board.rails.common(shape, [board.slots.lit[server] for server in servers])
        chosen[j] = {rail: cp.new_bool_var("") for rail in rails}
        cp.add(sum(chosen[j].values()) == shape.block)
        for rail, literal in chosen[j].items():
            for server in servers:
                takers[server, rail].append(literal)
    for literals in takers.values():
        cp.add_at_most_one(literals)
    status = solver.solve(cp)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return status, None
    return status, {j: tuple(rail for rail, x in rails.items() if solver.value(x)) for j, rails in chosen.items()}
