"""The recursion of Kaufman and Roberts."""

from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.studies.fragmentation.kaufman_roberts import kaufman_roberts
from planner.studies.fragmentation.study import OfferedLoad, exact
from tests.oracles.slices import states
from tests.planner.studies.fragmentation.loss_system_cases import SIZES, UNIFORM


@given(
    st.lists(st.tuples(st.integers(1, 5), st.floats(0.1, 3.0)), min_size=1, max_size=3, unique_by=lambda each: each[0]),
    st.floats(0.05, 3.0),
    st.integers(1, 12),
)
@settings(max_examples=60, deadline=None)
def test_the_recursion_is_the_sum_over_all_states(mix: list[tuple[int, float]], load: float, capacity: int) -> None:
    """Numbers of jobs are independent Poisson counts, given that they fit."""
    sizes, weights = zip(*mix, strict=True)
    mean = sum(s * w for s, w in mix)
    rates = [load * capacity * w / mean for w in weights]
    weight = {
        n: prod(rate**k / factorial(k) for rate, k in zip(rates, n, strict=True)) for n in states(sizes, capacity)
    }
    total = sum(weight.values())
    used = {n: sum(k * s for k, s in zip(n, sizes, strict=True)) for n in weight}
    admitted = [sum(w for n, w in weight.items() if used[n] + s <= capacity) / total for s in sizes]
    found = kaufman_roberts(sizes, weights, load, capacity)
    np.testing.assert_allclose(found.admitted, admitted, rtol=1e-9)
    assert found.jobs == pytest.approx(sum(a * w for a, w in zip(admitted, weights, strict=True)) / sum(weights))
    assert found.weighted == pytest.approx(sum(a * w * s for a, (s, w) in zip(admitted, mix, strict=True)) / mean)
    assert found.utilization == pytest.approx(sum(w * used[n] for n, w in weight.items()) / total / capacity)
    assert found.utilization == pytest.approx(load * found.weighted)


def test_published_exact_rows() -> None:
    for capacity, shares in ((64, (0.792, 0.617, 0.586)), (256, (0.899, 0.814, 0.773))):
        assert exact(OfferedLoad(SIZES, UNIFORM, 0.95, 0, 0, 0.0), capacity) == pytest.approx(shares, abs=5e-4)


def test_large_clusters_do_not_overflow() -> None:
    found = kaufman_roberts((1, 2), (1.0, 1.0), 0.9, 20_000)
    assert found.jobs == pytest.approx(1.0)
    assert found.utilization == pytest.approx(0.9)


@pytest.mark.parametrize("wrong", [((0,), (1.0,)), ((1, 2), (1.0,)), ((1,), (0.0,)), ((), ()), ((1,), (-1.0,))])
def test_wrong_weights_are_refused(wrong: tuple[tuple[int, ...], tuple[float, ...]]) -> None:
    with pytest.raises(ValueError, match="weights: give one weight"):
        kaufman_roberts(*wrong, 0.9, 8)
    with pytest.raises(ValueError, match="load, capacity"):
        kaufman_roberts((1,), (1.0,), 0.0, 8)
