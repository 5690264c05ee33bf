"""What is recorded over time and at moments, against a recomputation from when each job ran and what it held."""

import numpy as np
import pytest

from planner.simulate.log import BINS
from planner.simulate.measures import timeline
from planner.simulate.run_one import Outcome
from tests.planner.simulate.log_cases import CAPACITY, Watched


def test_the_series_agrees_with_when_jobs_ran(watched: Watched) -> None:
    found = timeline(watched.log)
    assert found is not None
    held = watched.held.astype(np.float64)
    np.testing.assert_allclose(found["busy"], watched.average(watched.start_s, watched.finish_s, held), atol=1e-6)
    waiting = watched.average(watched.arrival_s, watched.start_s, np.ones(len(held)))
    np.testing.assert_allclose(found["queue"], waiting, atol=1e-6)
    assert waiting.max() > 1, "nothing waits: the test shows nothing"
    assert len(found["busy"]) == BINS


def test_what_is_held_is_conserved_under_failures(failing: Outcome) -> None:
    series = failing.series
    assert series is not None
    share = np.mean(series["busy"]) / CAPACITY
    assert share == pytest.approx(failing.figures["utilization"], rel=1e-9)
    assert np.mean(series["queue"]) == pytest.approx(failing.figures["queue"], rel=1e-9)
    assert failing.figures["interruptions"], "nothing fails: the test shows nothing"
