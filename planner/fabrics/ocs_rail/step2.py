"""Step 2 on rails: which rails each job takes, the same on all its servers, no device twice."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import networkx as nx
from ortools.sat.python import cp_model

from planner.fabrics.free_slots import Device
from planner.fabrics.ocs_rail.free_state import RailFreeState
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.formulation.nogood import MostLit
from planner.formulation.step_two import Answer, Realized, StepTwo, StepTwoLimits, answer, taken_by_staying, with_others
from planner.model.plan import Assignment

Rails = Mapping[int, tuple[int, ...]]
"""by job"""


class RailStepTwo(StepTwo):
    """Rails first, then jobs without circuits."""

    def realize(
        self, problem: Problem, pattern: Pattern, limits: StepTwoLimits, most_lit: MostLit | None = None
    ) -> Realized:
        free = RailFreeState(problem.cluster)
        staying = taken_by_staying(free, problem, pattern)
        rails: dict[int, tuple[int, ...]] = {}
        for group in _groups(problem, pattern):
            found = _solve(problem, pattern, group, free, limits)
            if found.is_impossible:
                return Realized(nogood=(*_core(problem, pattern, group, free, limits), *staying))
            if found.found is None:
                return Realized()
            rails |= found.found

        def place(free: RailFreeState, j: int, on: tuple[int, ...]) -> Assignment | None:
            choice = pattern[j]
            return free.assign_on_rails(problem.options[j], choice.row, [s for s, _ in choice.blocks], on)

        return with_others(problem, pattern, RailFreeState(problem.cluster), rails, place)


def _groups(problem: Problem, pattern: Pattern) -> Iterator[list[int]]:
    """Jobs with circuits that share servers, directly or over others."""
    graph: nx.Graph[object] = nx.Graph()
    for j, choice in pattern.items():
        if not choice.stays and problem.options[j].shapes[choice.row].num_ports:
            graph.add_edges_from((j, ("server", server)) for server, _ in choice.blocks)
    for component in nx.connected_components(graph):
        yield sorted(n for n in component if isinstance(n, int))


def _core(
    problem: Problem, pattern: Pattern, group: Sequence[int], free: RailFreeState, limits: StepTwoLimits
) -> list[int]:
    """Jobs of a group that exclude each other, none of which can be spared."""
    kept = list(group)
    for j in group:
        fewer = [other for other in kept if other != j]
        if _solve(problem, pattern, fewer, free, limits).is_impossible:
            kept = fewer
    return kept


def _solve(
    problem: Problem, pattern: Pattern, group: Sequence[int], free: RailFreeState, limits: StepTwoLimits
) -> Answer[Rails]:
    """Rails of some jobs that share servers, beside what is taken."""
    cp = cp_model.CpModel()
    takers: defaultdict[Device, list[cp_model.IntVar]] = defaultdict(list)
    chosen: dict[int, dict[int, cp_model.IntVar]] = {}
    for j in group:
        shape, servers = problem.options[j].shapes[pattern[j].row], [server for server, _ in pattern[j].blocks]
        rails = free.rails.common(shape, [free.slots.lit[server] for server in servers])
        chosen[j] = {rail: cp.new_bool_var("") for rail in rails}
        cp.add(sum(chosen[j].values()) == shape.block)
        for rail, literal in chosen[j].items():
            for server in servers:
                takers[server, rail].append(literal)
    for literals in takers.values():
        cp.add_at_most_one(literals)
    return answer(
        limits.solver(),
        cp,
        lambda solver: {j: tuple(rail for rail, x in rails.items() if solver.value(x)) for j, rails in chosen.items()},
    )
