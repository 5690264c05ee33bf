"""Digits of ranks, and the circuits that they name."""

from costmodel.collectives.plan import CollectivePlan
from tests.costmodel.collectives.family_cases import built


def test_circuits_of_a_small_plan() -> None:
    plan = built("radix", (2, 2), (1, 1), (16, 16))
    assert plan.configurations() == (
        ((0, 1, 16), (1, 0, 16), (2, 3, 16), (3, 2, 16)),
        ((0, 2, 16), (1, 3, 16), (2, 0, 16), (3, 1, 16)),
    )
    ring = CollectivePlan("all_reduce", "ring", 2, plan.limits, (), (1,), (16,))
    assert ring.configurations() == (((0, 1, 16), (1, 0, 16)),)
