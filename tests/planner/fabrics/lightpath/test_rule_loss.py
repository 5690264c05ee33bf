"""The loss budget."""

import pytest

from planner.fabrics.lightpath.rule_loss import check_loss
from tests.planner.checks.good import loss, ring
from tests.planner.checks.plans import broken, relocated, rewired


def test_budget_that_is_too_small() -> None:
    """Both circuits between the servers cross one boundary and one fiber, 0.3 dB."""
    fabric = {"loss_per_tile": "0.1 dB", "loss_per_fiber": "0.2 dB"}
    instance, plan = ring({**fabric, "loss_budget": "0.29 dB"})
    assert broken(instance, plan) == {"loss"}
    excess = [violation.excess for violation in check_loss(instance, plan)]
    assert excess == pytest.approx([0.01, 0.01])
    assert broken(*ring(fabric)) == set()


@pytest.mark.parametrize(
    ("tile", "rules"), [("s0.t2", {"loss"}), ("s0.t3", set()), ("s0.t4", {"loss"}), ("s0.t5", {"loss"})]
)
def test_longer_way_to_the_fiber(tile: str, rules: set[str]) -> None:
    """Fiber 0 enters at slot 0, next to slots 1 and 3 only."""
    instance, plan = loss()
    assert broken(instance, relocated(plan, "ring", s0_t1=tile)) == rules


def test_fiber_at_another_slot() -> None:
    """From slot 1 over fiber 1 to slot 0 costs as much as over fiber 0; from slot 3 it costs more."""
    instance, plan = loss()
    assert broken(instance, rewired(plan, "ring", "s0.t1 s1.t0 0,1 s0>s1#1")) == set()
    far = relocated(plan, "ring", s0_t1="s0.t3")
    assert broken(instance, rewired(far, "ring", "s0.t3 s1.t0 0,1 s0>s1#1")) == {"loss"}
