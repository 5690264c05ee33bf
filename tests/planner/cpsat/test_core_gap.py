"""A share of the bound that is near enough ends the search, and what is said of the plan stays true."""

from pathlib import Path

import pytest

from planner import solve
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from tests.paths import ROOT

RACK = ROOT / "instances" / "lumorph" / "rack256.yaml"


def near(gap: float) -> tuple[float, float, bool]:
    """Gap that was asked for, gap that was reached, and whether value was improved beyond the first plan."""
    instance = Instance.load(Path(RACK)).model_copy(update={"objectives": Instance.load(RACK).objectives[:1]})
    result = solve(instance, options=SolveOptions(time_limit_s=30.0, gap=gap))
    assert result.gap is not None
    assert result.bound is not None
    assert result.objective is not None
    assert result.objective <= result.bound
    return gap, result.gap, result.objective > max(start.value for start in result.starts.values())


def test_a_plan_within_the_gap_ends_the_search() -> None:
    asked, reached, is_improved = near(0.05)
    assert reached <= asked
    assert not is_improved


@pytest.mark.parametrize("gap", [-0.1, 1.0, float("nan")])
def test_a_gap_is_a_share(gap: float) -> None:
    with pytest.raises(InputError, match="gap"):
        SolveOptions(gap=gap)
