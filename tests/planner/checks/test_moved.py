"""Residents that a plan moves: devices, configuration or circuits differ, their order apart."""

from planner.checks.moved import movers
from tests.planner.checks.good import resident_of, ring_assignment
from tests.planner.checks.plans import collective, edited, held, instance_of, plan_of


def test_what_moves_a_resident_and_what_does_not() -> None:
    instance = instance_of(residents=(resident_of(ring_assignment(), accelerators=4),))
    plan = plan_of(instance, ring_assignment())
    (circuits,) = plan["ring"].circuits
    turned = circuits.model_copy(update={"circuits": circuits.circuits[::-1]})
    copied = plan["ring"].configuration.model_copy()
    assert movers(instance, plan) == frozenset()
    assert movers(instance, edited(plan, "ring", circuits=(turned,), configuration=copied)) == frozenset()
    wider = copied.model_copy(update={"data_collective": collective("ring", 4)})
    for fields in (
        {"devices": plan["ring"].devices[::-1]},
        {"configuration": wider},
        {"circuits": (held("data", "s0.t0 s0.t1 0,1"),)},
    ):
        assert movers(instance, edited(plan, "ring", **fields)) == {"ring"}
