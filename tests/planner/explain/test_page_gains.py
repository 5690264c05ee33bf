"""What a little more of each resource would save a step."""

import pytest

from planner.explain.page_gains import page_gains
from planner.model.result import SolveOptions
from tests.planner.pages.policies_cases import HOST, case, solved


def test_a_little_more_is_worth_something_where_it_binds() -> None:
    data = case("VGG-E", ways=HOST, may_remake=False)
    result, _ = solved(data, 2.0)
    gains = page_gains(result, time_limit_s=3, options=SolveOptions(workers=1))
    (gain,) = gains
    assert gain.change == "10 % more bandwidth to host"
    assert 0 < gain.saved_s <= gain.saved_at_most_s
    assert result.value_s is not None
    assert gain.saved_s == pytest.approx(result.value_s - result.value_s / 1.1, rel=0.1)
