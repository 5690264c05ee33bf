"""Sizes that are larger than what one job can have."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.too_large import sizes_too_large, told_too_large
from planner.pipeline import solve
from tests.planner.small_racks import OPTIONS, rack, training


def _told(sizes: object, **fields: int) -> str | None:
    instance = Instance.parse(rack(training("a", sizes), tiles=4, **fields))
    return told_too_large(instance, instance.job("a"))


def test_what_is_left_out_is_said() -> None:
    assert _told([2, 4]) is None
    assert _told([2, 99]) == "99 is left out, a rack has 8 accelerators"
    assert _told([2, 9, 16]) == "9, 16 are left out, a rack has 8 accelerators"
    assert _told({"min": 4, "max": 12}) == "9 to 12 are left out, a rack has 8 accelerators"
    with pytest.raises(InputError, match="needs at least 99 accelerators, but a rack has 8; ask for fewer"):
        _told([99, 120])


@given(st.lists(st.integers(1, 12), min_size=1, max_size=4).filter(lambda sizes: min(sizes) <= 8))
def test_no_plan_has_a_size_that_is_left_out(sizes: list[int]) -> None:
    instance = Instance.parse(rack(training("a", sizes), tiles=4))
    left = sizes_too_large(instance, instance.job("a"))
    assert {*left} == {size for size in sizes if size > 8}
    plan = solve(instance, policy="first_fit", options=OPTIONS).plan
    assert plan is not None
    assert all(len(assignment.devices) in {*sizes} - {*left} for assignment in plan.assignments)
