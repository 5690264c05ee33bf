"""Rules that speak of an instance and its plan."""

import pytest

from planner.checks import check
from planner.checks.every_rule import rules_of
from planner.checks.spoken import rules_that_speak_of
from planner.fabrics import plugin_of
from tests.planner.checks.good import GOOD, ring
from tests.planner.checks.plans import edited, rewired


@pytest.mark.parametrize("name", GOOD)
def test_they_are_rules_of_the_fabric_in_its_order(name: str) -> None:
    instance, plan = GOOD[name]()
    asked = [*rules_of(plugin_of(instance.cluster.fabric))]
    spoken = rules_that_speak_of(instance, plan)
    assert spoken == [rule for rule in asked if rule in spoken]
    assert {"admission", "listed", "placement", "claims"} <= {*spoken}


def test_what_a_wild_plan_breaks_on_a_plain_fabric_is_spoken_of() -> None:
    instance, plan = ring()
    wild = rewired(edited(plan, "ring", devices=("s0.t0", "", "s0.t0", "s0.t0")), "ring", "s0.t0 s9.t9 7,8 a>b#c")
    assert {violation.rule for violation in check(instance, wild)} <= {*rules_that_speak_of(instance, wild)}
