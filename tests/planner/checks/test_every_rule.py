"""Good plans break no rule; checks survive names that mean nothing."""

import pytest

from planner.checks import CHECKS, check
from planner.model.plan import Plan
from tests.planner.checks.good import GOOD, ring
from tests.planner.checks.plans import broken, edited, rewired


@pytest.mark.slow
@pytest.mark.parametrize("name", GOOD)
def test_good_plan(name: str) -> None:
    assert check(*GOOD[name]()) == []


def test_keys_of_checks_are_the_rules() -> None:
    instance, plan = ring()
    wild = edited(plan, "ring", devices=("nowhere", "", "s0.t0", "s0.t0"), value=9.0)
    violations = check(instance, rewired(wild, "ring", "moon s9.t9 7,8 a>b#c", "s0.t0 s0.t0 -1 s0>s1#99"))
    assert {violation.rule for violation in violations} <= CHECKS.keys()
    assert all(violation.message and violation.where and violation.excess > 0 for violation in violations)


def test_empty_plan_is_good_where_nothing_is_required() -> None:
    instance, _ = ring()
    assert broken(instance, Plan(instance="tiny")) == set()
