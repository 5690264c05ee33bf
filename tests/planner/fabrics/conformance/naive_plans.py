"""Plans of jobs that were each placed as if alone: what is wrong with them is what the jobs share."""

from planner.fabrics.free_state import FreeState
from planner.fabrics.pattern import route_pattern
from planner.fabrics.problem import Problem
from planner.model.edit import with_cluster
from planner.model.health import Health
from planner.model.plan import Assignment
from tests.planner.fabrics.conformance.patterns import Drawn


def naive_plan(drawn: Drawn) -> list[Assignment] | None:
    """Each job first fit on the empty cluster, on other devices of the same server where its own are taken; None where
    one of them does not even fit alone on a cluster without failures."""
    healthy = Problem(with_cluster(drawn.problem.instance, health=Health()), drawn.problem.options)
    taken: set[str] = set()
    plan: list[Assignment] = []
    for j, choice in drawn.pattern.items():
        found = route_pattern(drawn.problem, {j: choice}) or route_pattern(healthy, {j: choice})
        if found is None:
            return None
        plan.append(_beside(drawn.problem, found[0], taken))
        taken.update(plan[-1].devices)
    return plan


def without_circuits(drawn: Drawn) -> list[Assignment]:
    """Each job on any accelerators of its servers, in whatever racks, as if packets joined them."""
    free = FreeState(drawn.problem.cluster)
    found = [free.assign_in_rack(drawn.problem.options[j], each.row, each.blocks) for j, each in drawn.pattern.items()]
    return [assignment for assignment in found if assignment is not None]


def _beside(problem: Problem, assignment: Assignment, taken: set[str]) -> Assignment:
    """The assignment on free devices of the same servers, as far as there are any; its circuits move with it."""
    fabric = problem.cluster.fabric
    names: dict[str, str] = {}
    for name in assignment.devices:
        server, _ = fabric.parse_device(name)
        slots = problem.cluster.healthy_slots(server)
        here = [name, *(fabric.device_name(server, slot) for slot in slots)]
        free = [other for other in here if other not in taken and other not in names.values()]
        names[name] = free[0] if free else name
    held = tuple(
        each.model_copy(
            update={
                "circuits": tuple(
                    c.model_copy(update={"source": names[c.source], "destination": names[c.destination]})
                    for c in each.circuits
                )
            }
        )
        for each in assignment.circuits
    )
    memory = tuple(each.model_copy(update={"device": names[each.device]}) for each in assignment.memory)
    devices = tuple(names[name] for name in assignment.devices)
    return assignment.model_copy(update={"devices": devices, "circuits": held, "memory": memory})
