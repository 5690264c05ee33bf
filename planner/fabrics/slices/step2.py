"""Step 2 on slices: where in each server the slices lie that step 1 counted."""

from collections import Counter
from collections.abc import Mapping, Sequence

from ortools.sat.python import cp_model

from costmodel.fabrics import SliceShape
from costmodel.fabrics.sliced import Held
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.fabrics.slices.free_state import SlicedFreeState
from planner.fabrics.slices.slice_literals import add_disjoint, new_places
from planner.formulation.nogood import MostLit
from planner.formulation.step_two import Answer, Realized, StepTwo, StepTwoLimits, answer, taken_by_staying, with_others
from planner.model.plan import Assignment


class SlicedStepTwo(StepTwo):
    """Slices first, server by server, then jobs whose ranks send nothing."""

    def realize(
        self, problem: Problem, pattern: Pattern, limits: StepTwoLimits, most_lit: MostLit | None = None
    ) -> Realized:
        free = SlicedFreeState(problem.cluster)
        staying = taken_by_staying(free, problem, pattern)
        wanted, cut_of = _wanted(problem, pattern)
        held: dict[int, list[Held]] = {j: [] for j in cut_of}
        for server in sorted(wanted):
            packed = _pack(free, server, cut_of, wanted[server], limits)
            if packed.is_impossible:
                return Realized(nogood=(*_core(free, server, cut_of, wanted[server], limits), *staying))
            if packed.found is None:
                return Realized()
            for j, count in wanted[server].items():
                held[j] += [(server, packed.found[cut_of[j]].pop()) for _ in range(count)]

        def place(free: SlicedFreeState, j: int, on: Sequence[Held]) -> Assignment:
            return free.assign_on_slices(problem.options[j], pattern[j].row, on)

        return with_others(problem, pattern, SlicedFreeState(problem.cluster), held, place)


def _wanted(problem: Problem, pattern: Pattern) -> tuple[dict[int, dict[int, int]], dict[int, SliceShape]]:
    """Slices by server and newly placed job, and the extent of those of each job."""
    wanted: dict[int, dict[int, int]] = {}
    cut_of: dict[int, SliceShape] = {}
    for j, choice in pattern.items():
        shape = problem.options[j].shapes[choice.row]
        if choice.stays or not shape.cut:
            continue
        cut_of[j] = shape.cut
        for server, count in choice.blocks:
            wanted.setdefault(server, {})[j] = count * shape.slices_together
    return wanted, cut_of


def _core(
    free: SlicedFreeState,
    server: int,
    cut_of: Mapping[int, SliceShape],
    wanted: Mapping[int, int],
    limits: StepTwoLimits,
) -> list[int]:
    """Jobs on a server that exclude each other, none of which can be spared."""
    kept = dict(wanted)
    for j in wanted:
        fewer = {other: count for other, count in kept.items() if other != j}
        if _pack(free, server, cut_of, fewer, limits).is_impossible:
            kept = fewer
    return list(kept)


def _pack(
    free: SlicedFreeState,
    server: int,
    cut_of: Mapping[int, SliceShape],
    wanted: Mapping[int, int],
    limits: StepTwoLimits,
) -> Answer[dict[SliceShape, list[tuple[int, ...]]]]:
    """Slots of so many slices of each extent on a server."""
    cp, counts = cp_model.CpModel(), Counter[SliceShape]()
    for j, count in wanted.items():
        counts[cut_of[j]] += count
    places = {cut: new_places(cp, free.slices.usable(server, cut)) for cut in counts}
    for cut, count in counts.items():
        cp.add(sum(place.taken for place in places[cut]) == count)
    add_disjoint(cp, (place for each in places.values() for place in each), {})
    return answer(
        limits.solver(),
        cp,
        lambda solver: {cut: [p.slice.slots for p in each if solver.value(p.taken)] for cut, each in places.items()},
    )
