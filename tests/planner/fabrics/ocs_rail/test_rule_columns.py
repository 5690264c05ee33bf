"""Circuits of all jobs at once: a plan that the columns pass breaks none of the rules that look at each circuit."""

from random import Random

import pytest

from costmodel.fabrics import OcsRail
from planner.checks.names import admitted
from planner.fabrics.ocs_rail.rule_columns import are_on_rails, circuits_of, failed_switches, jobs_astray
from planner.fabrics.ocs_rail.rule_rails import check_rails
from tests.planner.checks.plans import edited, rewired
from tests.planner.fabrics.ocs_rail.rule_rails_cases import ring

DEVICES = [f"s{server}.g{slot}" for server in range(4) for slot in range(3)]


def test_a_good_ring() -> None:
    instance, plan = ring()
    fabric = instance.cluster.fabric
    assert isinstance(fabric, OcsRail)
    assert are_on_rails(fabric, circuits_of(instance, plan), failed_switches(instance))
    assert not jobs_astray(instance, plan).any()
    assert are_on_rails(fabric, [], set())


@pytest.mark.parametrize("seed", range(60))
def test_what_the_columns_pass_the_rules_pass(seed: int) -> None:
    """Random rings on random devices and switches, most of them wrong."""
    random, (instance, plan) = Random(seed), ring()
    fabric = instance.cluster.fabric
    assert isinstance(fabric, OcsRail)
    lines = [f"{random.choice(DEVICES)} {random.choice(DEVICES)} {random.choice(['0', '1,2', '2,3'])}" for _ in "12"]
    devices = tuple(random.sample(DEVICES, len(plan["ring"].devices)))
    for wild in (rewired(plan, "ring", *lines), edited(plan, "ring", devices=devices), plan):
        assert len(admitted(instance, wild)) == 1
        is_passed = are_on_rails(fabric, circuits_of(instance, wild), failed_switches(instance))
        if is_passed and not jobs_astray(instance, wild).any():
            assert [*check_rails(instance, wild)] == []
        else:
            assert wild is not plan
