"""Why an admissible job is left out."""

import pytest

from planner.explain import explain
from planner.model.instance import Instance
from planner.model.plan import Plan
from tests.planner.small_racks import ask, outcome, rack, serving, texts


def test_too_few_free_accelerators_and_what_admission_costs() -> None:
    data = rack(serving("a", 4, weight=2), serving("x", 3), servers=1)
    explanation = ask(data, "x")
    assert explanation.tag == "does not fit beside this plan"
    assert explanation.headline == "x does not fit beside this plan (admitting it would cost 1 of value)"
    assert explanation.cost == pytest.approx(1.0)
    assert texts(explanation) == [
        "with 3 accelerators: needs 3, 0 are free",
        "in the best plan found with x, a is left out",
    ]
    base = outcome(data)
    forced = outcome(rack(serving("a", 4, weight=2), serving("x", 3, required=True), servers=1))
    assert base.objective is not None
    assert forced.objective is not None
    assert base.objective - forced.objective == pytest.approx(1.0)


def test_without_time_nothing_is_claimed() -> None:
    instance = Instance.parse(rack(serving("x", 2)))
    explanation = explain(instance, "x", plan=Plan(instance="small"), time_limit_s=0.0)
    assert explanation.tag == "undecided in time"
    assert [statement.is_verified for statement in explanation.statements] == [False]
