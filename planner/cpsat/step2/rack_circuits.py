"""Circuits between racks for all jobs at once: first fit, then exactly, where residents that stay hold some."""

from collections.abc import Mapping, Sequence

from ortools.sat.python import cp_model

from costmodel.fabrics import UpperSwitches
from planner.fabrics.pattern import Pattern
from planner.fabrics.problem import Problem
from planner.fabrics.rack_links import RackLinks, held_links
from planner.formulation.step_two import Answer, StepTwoLimits, answer
from planner.formulation.variables import total
from planner.model.plan import Assignment, RackCircuit

Circuits = dict[int, tuple[RackCircuit, ...]]
"""by job"""


def circuits_between_racks(
    problem: Problem,
    pattern: Pattern,
    parts: Mapping[int, Sequence[Assignment]],
    staying: Sequence[Assignment],
    limits: StepTwoLimits,
) -> Answer[Circuits]:
    """Circuits of jobs whose parts lie as said, beside residents that stay."""
    fabric, upper = problem.cluster.fabric, problem.cluster.fabric.upper_layer
    assert upper is not None
    links = RackLinks(problem.cluster, upper)
    for assignment in staying:
        links.take(links.of(assignment))
    racks = {j: [fabric.rack_of(fabric.parse_device(each.devices[0])[0]) for each in own] for j, own in parts.items()}
    demands = {j: problem.options[j].shapes[pattern[j].row] for j in parts}
    found, free = Circuits(), links.copy()
    for j in sorted(parts, key=lambda j: -demands[j].links):
        held = free.held(demands[j], racks[j])
        if held is None:
            break
        free.take(held)
        found[j] = held.circuits
    else:
        return Answer(found)
    if not isinstance(upper, UpperSwitches):
        return Answer(is_impossible=True)
    ends = ((j, racks[j][a], racks[j][b]) for j, demand in demands.items() for a, b in upper.joined(demand.racks))
    wanted = {(j, a, b): demands[j].links for j, a, b in ends}
    model = _Switched(wanted, links)
    return answer(limits.solver(), model.cp, model.circuits)


class _Switched:
    """Which switch carries how many circuits from rack to rack; `wanted` has the circuits of each job."""

    def __init__(self, wanted: Mapping[tuple[int, int, int], int], links: RackLinks) -> None:
        self.cp, self._wanted, self._links = cp_model.CpModel(), wanted, links
        self._switches = links.free_ports()
        self._number = {
            (ends, switch): self.cp.new_int_var(0, most, "")
            for ends, most in wanted.items()
            for switch in self._switches
        }
        for ends, most in wanted.items():
            self.cp.add(total(self._number[ends, switch] for switch in self._switches) == most)
        for switch, (out, into) in self._switches.items():
            for end, free in ((1, out), (2, into)):
                for rack in {ends[end] for ends in wanted}:
                    used = (self._number[ends, switch] for ends in wanted if ends[end] == rack)
                    self.cp.add(total(used) <= free[rack])

    def circuits(self, solver: cp_model.CpSolver) -> Circuits:
        """Circuits of each job, over the first free ports of the switches chosen."""
        found: dict[int, list[RackCircuit]] = {}
        free = self._links.copy()
        for (ends, switch), number in self._number.items():
            job, a, b = ends
            circuits = free.over(switch, a, b, solver.value(number))
            free.take(held_links(circuits))
            found.setdefault(job, []).extend(circuits)
        return {job: tuple(circuits) for job, circuits in found.items()}
