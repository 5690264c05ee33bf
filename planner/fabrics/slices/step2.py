"""Step 2 on slices: where in each server the slices lie that step 1 counted."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ortools.sat.python import cp_model

from costmodel.fabrics import Cut
from costmodel.fabrics.sliced import Held
from planner.fabrics.free_state import Pattern
from planner.fabrics.problem import Problem
from planner.fabrics.slices.free_state import SlicedFreeState
from planner.formulation.slice_literals import add_disjoint, new_places


@dataclass(frozen=True)
class PackedSlices:
    """Slices of each job by server; or jobs that exclude each other; or neither in time."""

    held: Mapping[int, Sequence[Held]] | None = None
    refuted: tuple[int, ...] = ()


def pack_slices(problem: Problem, pattern: Pattern, solver: Callable[[], cp_model.CpSolver]) -> PackedSlices:
    """Slices of all jobs of a pattern beside the residents that stay, server by server; exact in the solver's time."""
    board = SlicedFreeState(problem.cluster)
    for j, choice in pattern.items():
        if choice.stays:
            board.take(problem.options[j].staying())
    shapes = {j: problem.options[j].shapes[c.row] for j, c in pattern.items() if not c.stays}
    sliced = [j for j, shape in shapes.items() if shape.cut]
    wanted: dict[int, dict[int, int]] = {}
    for j in sliced:
        for server, count in pattern[j].blocks:
            wanted.setdefault(server, {})[j] = count * shapes[j].slices_together
    cut_of = {j: shapes[j].cut for j in sliced}
    held: dict[int, list[Held]] = {j: [] for j in sliced}
    for server in sorted(wanted):
        status, found = _pack(board, server, cut_of, wanted[server], solver())
        if status == cp_model.INFEASIBLE:
            staying = (j for j, choice in pattern.items() if choice.stays)
            return PackedSlices(refuted=(*_core(board, server, cut_of, wanted[server], solver), *staying))
        if found is None:
            return PackedSlices()
        for j, count in wanted[server].items():
            held[j] += [(server, found[cut_of[j]].pop()) for _ in range(count)]
    return PackedSlices(held)


def _core(
    board: SlicedFreeState,
    server: int,
    cut_of: Mapping[int, Cut],
    wanted: Mapping[int, int],
    solver: Callable[[], cp_model.CpSolver],
) -> list[int]:
    """Jobs on a server that exclude each other, none of which can be spared."""
    kept = dict(wanted)
    for j in wanted:
        fewer = {other: count for other, count in kept.items() if other != j}
        if _pack(board, server, cut_of, fewer, solver())[0] == cp_model.INFEASIBLE:
            kept = fewer
    return list(kept)


def _pack(
    board: SlicedFreeState, server: int, cut_of: Mapping[int, Cut], wanted: Mapping[int, int], solver: cp_model.CpSolver
) -> tuple[cp_model.CpSolverStatus, dict[Cut, list[tuple[int, ...]]] | None]:
    """Slots of so many slices of each extent on a server."""
    cp, counts = cp_model.CpModel(), Counter[Cut]()
    for j, count in wanted.items():
        counts[cut_of[j]] += count
    places = {cut: new_places(cp, board.cuts.usable(server, cut)) for cut in counts}
    for cut, count in counts.items():
        cp.add(sum(place.taken for place in places[cut]) == count)
    add_disjoint(cp, (place for each in places.values() for place in each), {})
    status = solver.solve(cp)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return status, None
    return status, {cut: [p.slice.slots for p in each if solver.value(p.taken)] for cut, each in places.items()}
