"""Simulated shares against exact ones, a slow event list, and known quantiles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.slices import AnyChip
from planner.studies.fragmentation.loss_system import Traffic, admit, draw_traffic, measure
from tests.oracles.slices import shares_of_jobs


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
