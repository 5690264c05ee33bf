"""A plan that takes more of the ports than there is breaks the rule."""

import pytest

from planner.checks import check
from planner.model.plan import Plan
from tests.planner.fabrics.divided_ports.clusters import Fields, shared


@pytest.mark.parametrize(
    ("change", "rules"),
    [
        ({"memory_io": 8}, {"shares"}),
        ({"memory_units": 16}, {"shares"}),
        ({"tier_units": 1}, {"shares", "listed"}),
        ({"memory_units": None}, {"shares", "listed"}),
    ],
)
def test_a_plan_that_takes_too_much_breaks_the_rule(change: Fields, rules: set[str]) -> None:
    asked, plan = shared()
    data = plan.model_dump(mode="json")
    for assignment in data["assignments"]:
        assignment["configuration"] |= change
    assert rules <= {violation.rule for violation in check(asked, Plan.model_validate(data))}
