"""What a plan says of itself is recomputed."""

import pytest

from planner.checks import check
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.checks.good import moved, ring, staying
from tests.planner.checks.plans import edited, instance_of, job

FIELDS = ["value", "speed", "step_s", "energy_per_work", "power_w"]


def rules(instance: Instance, plan: Plan) -> list[str]:
    return [violation.rule for violation in check(instance, plan)]


@pytest.mark.parametrize("field", FIELDS)
def test_scores(field: str) -> None:
    instance, plan = ring()
    right = getattr(plan["ring"], field)
    assert rules(instance, edited(plan, "ring", **{field: right * (1 + 1e-7)})) == []
    assert rules(instance, edited(plan, "ring", **{field: right * (1 - 1e-5)})) == ["claims"]
    assert rules(instance, edited(plan, "ring", **{field: 0.0})) == ["claims"]


def test_is_moved() -> None:
    for instance, plan in (staying(), moved()):
        for assignment in plan.assignments:
            claim = edited(plan, assignment.job, is_moved=not assignment.is_moved)
            assert rules(instance, claim) == ["claims"]


@pytest.mark.parametrize("name", ["value", "moves", "energy", "fragmentation"])
def test_objectives(name: str) -> None:
    instance, plan = moved()
    assert plan.objectives.keys() == {"value", "moves", "energy", "fragmentation"}
    wrong = {**plan.objectives, name: plan.objectives[name] + 1e-3}
    assert rules(instance, plan.model_copy(update={"objectives": wrong})) == ["claims"]


def test_claims_that_are_absent_or_unknown() -> None:
    instance, plan = ring()
    assert rules(instance, plan.model_copy(update={"objectives": {}})) == []
    assert rules(instance, plan.model_copy(update={"objectives": {"beauty": 1.0}})) == ["claims"]


def test_objective_that_the_instance_does_not_have() -> None:
    _, plan = ring()
    instance = instance_of(job("ring", 4), objectives=["value"])
    assert rules(instance, plan) == []


def test_plan_of_another_instance() -> None:
    instance, plan = ring()
    assert rules(instance, plan.model_copy(update={"instance": "other"})) == ["claims"]
