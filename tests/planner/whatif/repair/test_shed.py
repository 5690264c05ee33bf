"""One job gives way where no repair keeps all."""

import pytest

from planner.checks import check
from planner.whatif.repair import repair
from tests.planner.small_racks import rack, training
from tests.planner.whatif.repair.racks import plan_of


def test_without_a_spare_the_least_valuable_gives_way() -> None:
    instance, plan = plan_of(rack(training("dear", 2, weight=3), training("cheap", 2), servers=1))
    found = repair(instance, plan, [plan["dear"].devices[0]])
    assert found.outcome == "reduced"
    assert found.is_impossible
    assert found.dropped == ("cheap",)
    assert found.lost_value == pytest.approx(plan["cheap"].value)


def test_a_job_runs_smaller_rather_than_not_at_all() -> None:
    instance, plan = plan_of(rack(training("p", {"min": 1, "max": 4}, required=True), servers=1))
    found = repair(instance, plan, [plan["p"].devices[1]])
    assert found.outcome == "reduced"
    assert found.resized == ("p",)
    assert found.plan is not None
    assert check(found.instance, found.plan) == []


def test_what_must_run_and_cannot_leaves_no_plan() -> None:
    instance, plan = plan_of(rack(training("p", 4, required=True), servers=1))
    found = repair(instance, plan, ["s0.t0"])
    assert (found.outcome, found.plan, found.is_impossible) == ("none", None, True)
