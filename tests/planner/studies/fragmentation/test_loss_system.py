"""Simulated shares against exact ones, a slow event list, and known quantiles."""

from math import factorial, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.slices import AnyChip, RingsOverServers, TorusBoxes
from planner.statistics import controlled, estimate, student_quantile
from planner.studies.fragmentation.kaufman_roberts import kaufman_roberts
from planner.studies.fragmentation.loss_system import Traffic, admit, draw_traffic, measure
from planner.studies.fragmentation.study import OfferedLoad, exact, study
from tests.oracles.slices import shares_of_jobs, states

SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
UNIFORM = (1.0,) * len(SIZES)


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


@given(st.integers(0, 1000), st.integers(4, 40))
@settings(max_examples=30, deadline=None)
def test_events_and_measures_equal_a_slow_list(seed: int, capacity: int) -> None:
    traffic = draw_traffic((1, 2, 5), (1.0, 2.0, 1.0), 1.2, capacity, 200, seed)
    jobs = list(zip(traffic.arrival.tolist(), traffic.size.tolist(), traffic.holding.tolist(), strict=True))
    begin = jobs[40][0]
    slow = shares_of_jobs(jobs, lambda running, size: sum(running) + size <= capacity, capacity, begin)
    ours = measure(traffic, admit(AnyChip(capacity), traffic), capacity, begin)
    assert ours == pytest.approx(slow)


def test_traffic_is_what_was_asked_for() -> None:
    traffic = draw_traffic((1, 4), (3.0, 1.0), 0.8, 50, 40_000, 1)
    assert traffic.size.mean() == pytest.approx(1.75, rel=0.02)
    assert traffic.holding.mean() == pytest.approx(1.0, rel=0.02)
    asked_at_once = traffic.size.sum() / traffic.arrival[-1]
    assert asked_at_once == pytest.approx(0.8 * 50, rel=0.03)
    with pytest.raises(ValueError, match="warm_up: no job arrives after"):
        measure(traffic, np.ones(40_000, dtype=np.bool_), 50, 1e9)


def test_a_job_that_leaves_as_another_arrives_makes_room() -> None:
    traffic = Traffic(np.array([0.0, 1.0, 1.5]), np.array([2, 2, 2]), np.array([1.0, 1.0, 1.0]))
    assert admit(AnyChip(2), traffic).tolist() == [True, True, False]


@pytest.mark.slow
def test_any_chip_first_come_meets_the_exact_values() -> None:
    """Within 1.5 times the interval of 16 short replications, and the interval is narrow."""
    load = OfferedLoad(SIZES, UNIFORM, 0.95, jobs=2500, seeds=16, warm_up=8.0)
    for capacity in (64, 256):
        outcome = study(load, capacity, {"any": lambda capacity=capacity: AnyChip(capacity)})["any"]
        assert (outcome.plain.half_width < 0.013).all()
        assert (np.abs(outcome.plain.mean - exact(load, capacity)) < 1.5 * outcome.plain.half_width).all()
        np.testing.assert_allclose(outcome.best.mean, exact(load, capacity), rtol=1e-12)
        assert not outcome.less_any_chip.mean.any()


@pytest.mark.slow
def test_the_control_narrows_what_resembles_it() -> None:
    load = OfferedLoad(SIZES, UNIFORM, 0.95, jobs=1500, seeds=12, warm_up=8.0)
    found = study(load, 64, {"rings": lambda: RingsOverServers(8, 8, 1), "torus": lambda: TorusBoxes((4, 4, 4))})
    assert (found["rings"].best.half_width < 0.3 * found["rings"].plain.half_width).all()
    assert (found["torus"].less_any_chip.mean[1:] < -0.05).all()


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 12.706), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.571), (10, 2.228), (18, 2.101), (30, 2.042)],
)
def test_quantiles_of_student(freedom: int, quantile: float) -> None:
    assert student_quantile(freedom) == pytest.approx(quantile, rel=2e-3)


def test_intervals_cover() -> None:
    generator = np.random.default_rng(0)
    covered, covered_controlled = 0, 0
    for _ in range(400):
        control = generator.normal(size=(10, 1))
        samples = 2.0 + 0.8 * control + 0.3 * generator.normal(size=(10, 1))
        plain, better = estimate(samples), controlled(samples, control, np.zeros(1))
        covered += abs(plain.mean[0] - 2.0) < plain.half_width[0]
        covered_controlled += abs(better.mean[0] - 2.0) < better.half_width[0]
    assert 0.92 < covered / 400 < 0.98
    assert 0.92 < covered_controlled / 400 < 0.98
    with pytest.raises(ValueError, match="seeds: 1 replications are too few"):
        estimate(np.zeros((1, 1)))
