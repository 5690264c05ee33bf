"""A result whose levels and plan disagree is refused."""

from dataclasses import replace

import pytest

from planner.model.result import Level, SolveOptions, Status, is_worse, stated
from planner.pipeline import solve
from tests.planner.formulation.terms_cases import instance_of, job


def test_levels_and_plan_must_agree() -> None:
    result = solve(instance_of(job("big", 2, 1e6), job("small", 2, 1e-3)), options=SolveOptions(workers=1))
    assert result.plan is not None
    big = (result.plan["big"],)
    poorer = result.plan.model_copy(
        update={"assignments": big, "objectives": result.plan.objectives | {"value": big[0].value}}
    )
    with pytest.raises(ValueError, match=r"value is 1000000\.001, but 1000000\.0 in the plan"):
        replace(result, plan=poorer)
    spent = (replace(result.levels[0], tolerance=0.01), *result.levels[1:])
    assert replace(result, plan=poorer, levels=spent).plan == poorer


def test_levels_tell_what_later_ones_made_better() -> None:
    result = solve(instance_of(job("big", 2, 2)), options=SolveOptions(workers=1))
    assert result.plan is not None
    before = Level("value", 1.0, 1.5, 1 / 3, Status.FEASIBLE)
    (after,) = stated([before], result.plan)
    assert (after.value, after.bound, after.gap) == (result.plan.objectives["value"], 2.0, 0.0)


@pytest.mark.parametrize(
    ("value", "other", "is_expected"), [(1.0, 2.0, True), (2.0, 1.0, False), (1.0, 1 + 1e-12, False)]
)
def test_worse_is_more_than_noise(value: float, other: float, is_expected: bool) -> None:
    assert is_worse(value, other, is_maximized=True) is is_expected
    assert is_worse(other, value, is_maximized=False) is is_expected
