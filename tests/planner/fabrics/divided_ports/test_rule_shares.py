"""A plan that takes more of the ports than there is breaks the rule."""

import pytest

from planner.checks import check
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.pipeline import solve
from tests.fabrics import FABRICS
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


@pytest.mark.parametrize(("ports", "is_said"), [(2, False), (6, False), (7, True), (19, True)])
def test_pairs_of_an_accelerator_are_as_many_as_its_edge_carries(ports: int, is_said: bool) -> None:
    """Six pairs, of which 18 would fit around the chip."""
    fields = FABRICS["divided_ports"] | {
        "servers": 1,
        "memory": {"kind": "optical_modules", "part": "optical-hbm-a100"},
    }
    workload = {"kind": "transformer_training", "model": "bert-large", "global_batch": 8, "sequence": 512}
    instance = Instance.parse(
        {
            "schema_version": 1, "name": "modules", "cluster": {"device": "a100-sxm", "fabric": fields},
            "jobs": [{"name": "j", "workload": workload, "accelerators": 1}],
        }
    )  # fmt: skip
    plan = solve(instance, policy="first_fit").plan
    assert plan is not None
    data = plan.model_dump(mode="json")
    data["assignments"][0]["configuration"] |= {"memory_io": ports, "memory_units": ports}
    said = [each.message for each in check(instance, Plan.model_validate(data)) if each.rule == "shares"]
    assert said == [
        *([f"j: {ports} pairs serve memory, an accelerator has 6"] if is_said else []),
        *(["j: fibers of 19 pairs take 115.8 of 115 mm of edge"] if ports == 19 else []),
    ]
