"""Figures of a replay from its log."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.simulate.log import BINS, Log
from planner.simulate.measures import timeline
from tests.planner.simulate.log_cases import CAPACITY


@st.composite
def _histories(draw: st.DrawFn) -> list[tuple[float, int, int, int]]:
    """(time of the next event, busy, waiting, smallest) until after the end."""
    gaps = draw(st.lists(st.floats(0.0, 30.0), min_size=1, max_size=40))
    times = [*np.cumsum(gaps).tolist(), 1000.0]
    counts = st.tuples(st.integers(0, CAPACITY), st.integers(0, 5), st.integers(1, CAPACITY))
    rows = [draw(counts) for _ in times]
    return [
        (time, busy, waiting, size if waiting else 0) for time, (busy, waiting, size) in zip(times, rows, strict=True)
    ]


@pytest.mark.slow
@given(_histories(), st.floats(0.0, 50.0), st.floats(1.0, 400.0))
def test_averages_are_exact(history: list[tuple[float, int, int, int]], begin_s: float, length_s: float) -> None:
    log = Log(0, begin_s, begin_s + length_s)
    for now_s, busy, waiting, smallest in history:
        log.advance(now_s, busy, CAPACITY - busy, waiting, smallest)
    found = timeline(log)
    assert found is not None
    edges = np.linspace(log.begin_s, log.end_s, BINS + 1)
    expected = np.zeros((3, BINS))
    for (begin, *_), (end, busy, waiting, smallest) in pairwise([(0.0, 0, 0, 0), *history]):
        free = CAPACITY - busy
        counts = (busy, waiting, free if 0 < smallest <= free else 0)
        passed = np.clip(np.minimum(end, edges[1:]) - np.maximum(begin, edges[:-1]), 0, None)
        expected += np.outer(counts, passed) / (length_s / BINS)
    got = np.array([found["busy"], found["queue"], found["stranded"]])
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-6)
    assert got[0].sum() * length_s / BINS == pytest.approx(log.busy_s)
    assert got[2].sum() * length_s / BINS == pytest.approx(log.stranded_s)


def test_without_time_there_is_no_series() -> None:
    assert timeline(Log(0, 5.0, 5.0)) is None
