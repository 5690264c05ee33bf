"""What a policy plans is handed out only if the check accepts it."""

import gc
from dataclasses import replace
from typing import Any

import pytest

from planner.api import solve
from planner.fabrics.problem import Problem
from planner.model.errors import RefusedPlanError
from planner.model.instance import Instance
from planner.model.result import Result, SolveOptions
from planner.policies import find_policy
from tests.planner.cli.conftest import fields


def _doubling(problem: Problem, options: SolveOptions) -> Result:
    """The first job on the devices of all others too."""
    result = find_policy("first_fit")(problem, options)
    assert result.plan is not None
    first, *others = result.plan.assignments
    taken: dict[str, Any] = {"devices": (*others[0].devices,)} if others else {}
    return replace(
        result, plan=result.plan.model_copy(update={"assignments": (first.model_copy(update=taken), *others)})
    )


def test_a_plan_that_breaks_a_rule_is_refused() -> None:
    instance = Instance.parse(fields())
    with pytest.raises(RefusedPlanError) as refused:
        solve(instance, policy=_doubling)
    assert refused.value.plan is not None
    assert refused.value.violations
    assert gc.isenabled()


def test_a_good_plan_is_handed_out() -> None:
    result = solve(Instance.parse(fields()), policy="first_fit")
    assert result.plan is not None
    assert {assignment.job for assignment in result.plan.assignments} == {"big", "small"}
