"""Rounding that keeps bounds bounds, and sums that stay exact."""

from math import ceil, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.formulation.quantize import LIMIT, STEPS, Scale, scale_for

amounts = st.just(0.0) | st.floats(min_value=1e-9, max_value=1e6)


@given(amounts, st.floats(min_value=1e-3, max_value=1e7), st.booleans())
def test_rounding_is_up_or_down_but_for_noise(value: float, steps: float, rounds_up: bool) -> None:
    found = Scale(steps, rounds_up).to_int(value)
    exact = value * steps
    assert abs(found - exact) < 1
    if rounds_up:
        assert found >= exact - 1e-6
    else:
        assert found <= exact + 1e-6
    assert found in (floor(exact), ceil(exact))


@pytest.mark.parametrize(
    ("value", "up", "down"),
    [(0.3, 3, 3), (0.31, 4, 3), (0.1 + 0.2, 3, 3), (0.0, 0, 0), (-0.31, -3, -4), (0.3 - 1e-9, 3, 3)],
)
def test_by_hand(value: float, up: int, down: int) -> None:
    assert Scale(10.0, True).to_int(value) == up
    assert Scale(10.0, False).to_int(value) == down


@given(st.lists(amounts, min_size=1, max_size=30), st.booleans())
def test_sums_never_pass_the_limit(values: list[float], rounds_up: bool) -> None:
    scale = scale_for(max(values), sum(values), rounds_up=rounds_up)
    steps = [scale.to_int(value) for value in values]
    assert sum(steps) <= LIMIT + len(values)
    assert max(steps) <= STEPS + 1
    assert abs(scale.to_float(sum(steps)) - sum(values)) <= len(values) * scale.resolution + 1e-6


def test_steps_shrink_where_the_sum_is_long() -> None:
    many = 10**12
    scale = scale_for(1.0, float(many), rounds_up=True)
    assert scale.to_int(1.0) * many <= LIMIT * 1.001
    assert scale.resolution > scale_for(1.0, 10.0, rounds_up=True).resolution
    assert scale_for(1.0, 10.0, rounds_up=True).to_int(1.0) == STEPS


def test_nothing_to_scale() -> None:
    assert scale_for(0.0, 0.0, rounds_up=True).to_int(0.0) == 0


def test_resolution_is_one_step() -> None:
    scale = scale_for(5.0, 12.0, rounds_up=False)
    assert scale.to_float(1) == pytest.approx(scale.resolution)
    assert scale.resolution == pytest.approx(5.0 / STEPS)
