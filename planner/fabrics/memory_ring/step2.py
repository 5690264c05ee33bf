"""Step 2 where devices share memory nodes: the slot of each rank, server by server, or a proof that there is none."""

from collections import Counter
from collections.abc import Mapping

from ortools.sat.python import cp_model

from costmodel.fabrics import MemoryNodeRings
from planner.fabrics.free_slots import Device
from planner.fabrics.memory_ring.demand import NodeDemand
from planner.fabrics.memory_ring.free_state import NodeFreeState
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.formulation.nogood import MostLit
from planner.formulation.step_two import Answer, Realized, StepTwo, StepTwoLimits, answer, taken_by_staying, with_others
from planner.model.plan import Assignment

Class = tuple[int, bool]
"""DIMMs of the node on either side of a rank; whether it may do without a port"""
Slots = Mapping[Class, list[int]]


class MemoryRingStepTwo(StepTwo):
    """Ranks that ask for the same are alike: slots are found for each kind of rank, then dealt out to jobs."""

    def realize(
        self, problem: Problem, pattern: Pattern, limits: StepTwoLimits, most_lit: MostLit | None = None
    ) -> Realized:
        free = NodeFreeState(problem.cluster)
        staying = taken_by_staying(free, problem, pattern)
        placed = [j for j, choice in pattern.items() if not choice.stays]
        slots: dict[int, Slots] = {}
        for server in sorted({server for j in placed for server, _ in pattern[j].blocks}):
            ranks = Counter[Class]()
            for j in placed:
                ranks[_class_of(problem, pattern, j)] += _ranks_on(problem, pattern, j, server)
            found = _slots(free, server, +ranks, limits)
            if found.is_impossible:
                there = [j for j in placed if _ranks_on(problem, pattern, j, server)]
                return Realized(nogood=(*there, *staying))
            if found.found is None:
                return Realized()
            slots[server] = found.found
        devices = {j: _dealt(problem, pattern, j, slots) for j in placed}

        def place(state: NodeFreeState, j: int, on: list[Device]) -> Assignment | None:
            return state.assign_on(problem.options[j], pattern[j].row, on)

        return with_others(problem, pattern, NodeFreeState(problem.cluster), devices, place)


def _class_of(problem: Problem, pattern: Pattern, j: int) -> Class:
    shape = problem.options[j].shapes[pattern[j].row]
    assert isinstance(shape, NodeDemand)
    return shape.each_side, shape.is_single


def _ranks_on(problem: Problem, pattern: Pattern, j: int, server: int) -> int:
    return problem.options[j].shapes[pattern[j].row].part * dict(pattern[j].blocks).get(server, 0)


def _dealt(problem: Problem, pattern: Pattern, j: int, slots: Mapping[int, Slots]) -> list[Device]:
    """The next slots of its kind on each server of a job, taken from those that are left."""
    kind = _class_of(problem, pattern, j)
    return [
        (server, slots[server][kind].pop())
        for server, _ in pattern[j].blocks
        for _ in range(_ranks_on(problem, pattern, j, server))
    ]


def _slots(free: NodeFreeState, server: int, ranks: Mapping[Class, int], limits: StepTwoLimits) -> Answer[Slots]:
    """Slots of one server for so many ranks of each kind, beside what is taken."""
    cp, fabric = cp_model.CpModel(), free.cluster.fabric
    assert isinstance(fabric, MemoryNodeRings)
    on: dict[tuple[Class, int], cp_model.IntVar] = {}
    for kind, number in ranks.items():
        usable = free.slots.free(server, single=kind[1])
        on |= {(kind, slot): cp.new_bool_var("") for slot in usable}
        cp.add(sum(on[kind, slot] for slot in usable) == number)
    for slot in range(fabric.devices_per_server):
        cp.add_at_most_one(literal for (_, own), literal in on.items() if own == slot)
        beside = slot, (slot + 1) % fabric.devices_per_server
        taken = sum(kind[0] * literal for (kind, own), literal in on.items() if own in beside)
        cp.add(taken <= free.dimms[server][slot])

    def read(solver: cp_model.CpSolver) -> Slots:
        return {kind: [slot for (own, slot), x in on.items() if own == kind and solver.value(x)] for kind in ranks}

    return answer(limits.solver(), cp, read)
