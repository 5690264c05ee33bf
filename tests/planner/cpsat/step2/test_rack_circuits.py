"""Circuits between racks beside residents whose own leave first fit none."""

from typing import Any

from planner.checks import check
from planner.model.edit import as_residents
from planner.model.instance import Instance
from planner.model.plan import Plan, RackCircuit
from tests.planner.fabrics.joined_racks.racks import SWITCHES, best, racks

TWO = SWITCHES | {"radix": 3}
"""a port of each rack at u0, the other one at u1"""


def _with_light(*over: tuple[str, str, str]) -> Instance:
    """Jobs of four in two racks each that hold these circuits, and another one to come."""
    instance = racks(TWO, 6, 4)
    plan = best(racks(TWO, 6))
    circuits = tuple(RackCircuit.model_validate({"from": a, "to": b, "over": switch}) for a, b, switch in over)
    running = plan.assignments[0].model_copy(update={"upper": circuits})
    links = running.configuration.data_collective.model_copy(update={"links": 1})
    configuration = running.configuration.model_copy(update={"data_collective": links})
    one = running.model_copy(update={"configuration": configuration})
    return as_residents(instance, Plan(instance="racks", assignments=(one,)))


def _crossed() -> dict[str, Any]:
    """Out of rack 0 over u0 into rack 1, and back over u1."""
    return {"over": (("r0.p0", "r1.p0", "u0"), ("r1.p1", "r0.p1", "u1"))}


def test_a_job_beside_crossed_circuits_finds_its_own() -> None:
    instance = _with_light(*_crossed()["over"])
    plan = best(instance)
    assert check(instance, plan) == []
    assert not plan["j0"].is_moved
