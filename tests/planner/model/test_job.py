"""Sizes of a job: numbers, lists and ranges."""

from typing import Any

import pytest

from planner.model.job import Range
from tests.planner.model.instance_cases import parse
from tests.planner.small_racks import rack, serving


@pytest.mark.parametrize(
    ("accelerators", "sizes"),
    [(3, (3,)), ([4, 2, 2], (2, 4)), ({"min": 2, "max": 4}, (2, 3, 4)), ({"min": 1, "max": 1}, (1,))],
)
def test_sizes(accelerators: Any, sizes: tuple[int, ...]) -> None:
    assert parse(rack(serving("x", accelerators))).jobs[0].sizes == sizes


def test_a_range_may_reach_beyond_the_rack() -> None:
    assert parse(rack(serving("x", {"min": 8, "max": 20}))).jobs[0].sizes[-1] == 20
    assert Range(min=2, max=2).max == 2
