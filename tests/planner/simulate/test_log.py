"""What is recorded over time and at moments, against a recomputation from when each job ran and what it held."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from planner.placement.job_classes import Site
from planner.simulate.events import Rules, Simulation
from planner.simulate.log import BINS, Log
from planner.simulate.measures import timeline
from planner.simulate.placers import PLACERS
from planner.simulate.run_one import Outcome, SimulationRun, replay
from planner.simulate.runs import Jobs
from planner.simulate.snapshots import MOST_WAITING, snapshot
from planner.simulate.study import prepare_study
from planner.whatif.failure_model import FailureModel
from tests.planner.simulate.grounds import SMALL_DEMAND, cluster, ground, mix, state_of

CAPACITY = 32
Floats = NDArray[np.float64]


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


@pytest.fixture(scope="module")
def fat() -> Site:
    return ground("g", cluster("fat_tree"), [1, 2, 4, 8, 16])


class _Watched:
    """A replay with what can be said of it from the times of its jobs alone."""

    def __init__(self, of: Site, moments: Sequence[float]) -> None:
        trace = SMALL_DEMAND.draw(150, 7).at_load(1.1, CAPACITY)
        sizes = sorted(set(trace.num_gpus.tolist()))
        self.tenant, size = trace.tenant, trace.num_gpus.tolist()
        jobs = Jobs(
            trace.arrival_s.tolist(), trace.duration_s.tolist(), [of.kinds[0, each] for each in size],
            [sizes.index(each) for each in size], [0] * len(trace), sizes,
        )  # fmt: skip
        end_s = float(trace.arrival_s[-1])
        self.log = Log(len(trace), 0.1 * end_s, end_s)
        simulation = Simulation(
            jobs, lambda state: PLACERS["first_fit"](state, 0), state_of(of.cluster), Rules(), self.log
        )
        self.seen: list[tuple[float, dict[str, object]]] = []
        for moment in moments:
            at_s = moment * end_s
            simulation.sample([at_s], lambda state, t=at_s: self.seen.append((t, snapshot(simulation, t, self.tenant))))  # type: ignore[misc]
        simulation.run()
        self.arrival_s, self.held = trace.arrival_s, trace.num_gpus
        self.start_s, self.finish_s = np.array(self.log.start_s), np.array(self.log.finish_s)

    def average(self, begin_s: Floats, end_s: Floats, weight: Floats) -> Floats:
        """Of sum of weight over jobs from begin to end, in each stretch."""
        edges = np.linspace(self.log.begin_s, self.log.end_s, BINS + 1)
        inside = np.minimum(end_s[:, None], edges[1:]) - np.maximum(begin_s[:, None], edges[:-1])
        return weight @ np.clip(inside, 0, None) / (edges[1] - edges[0])


@pytest.fixture(scope="module")
def watched(fat: Site) -> _Watched:
    return _Watched(fat, (0.3, 0.6, 1.0))


def test_the_series_agrees_with_when_jobs_ran(watched: _Watched) -> None:
    found = timeline(watched.log)
    assert found is not None
    held = watched.held.astype(np.float64)
    np.testing.assert_allclose(found["busy"], watched.average(watched.start_s, watched.finish_s, held), atol=1e-6)
    waiting = watched.average(watched.arrival_s, watched.start_s, np.ones(len(held)))
    np.testing.assert_allclose(found["queue"], waiting, atol=1e-6)
    assert waiting.max() > 1, "nothing waits: the test shows nothing"
    assert len(found["busy"]) == BINS


def test_snapshots_agree_with_when_jobs_ran(watched: _Watched) -> None:
    assert len(watched.seen) == 3
    for at_s, seen in watched.seen:
        runs = (watched.start_s <= at_s) & (watched.finish_s > at_s)
        assert [job["number"] - 1 for job in seen["jobs"]] == np.flatnonzero(runs).tolist()  # type: ignore[attr-defined]
        owner = np.array(seen["owner"])
        assert np.bincount(owner[owner >= 0]).tolist() == watched.held[runs].tolist()
        waits = np.flatnonzero((watched.arrival_s <= at_s) & (watched.start_s > at_s))
        line = [job["number"] - 1 for job in seen["waiting"]]  # type: ignore[attr-defined]
        assert line == waits.tolist()[:MOST_WAITING]
        assert (seen["num_waiting"], seen["asked"]) == (len(waits), watched.held[waits].sum())
        for job in seen["jobs"]:  # type: ignore[attr-defined]
            assert job["since_s"] == pytest.approx(at_s - watched.start_s[job["number"] - 1])


@pytest.fixture(scope="module")
def failing() -> Outcome:
    model = FailureModel.model_validate({"tile": {"time_between_failures": "4 h", "repair_time": "1 h"}})
    study = prepare_study(SMALL_DEMAND, mix(), {"t": cluster("torus")}, jobs=150, failures=model)
    study = type(study)(**{**vars(study), "moments": (0.4, 0.8)})
    assert not replay(study, SimulationRun("t", "first_fit", 0.9, 1)).snapshots, "of the first seed alone"
    return replay(study, SimulationRun("t", "first_fit", 0.9, 0))


def test_what_is_held_is_conserved_under_failures(failing: Outcome) -> None:
    series = failing.series
    assert series is not None
    share = np.mean(series["busy"]) / CAPACITY
    assert share == pytest.approx(failing.figures["utilization"], rel=1e-9)
    assert np.mean(series["queue"]) == pytest.approx(failing.figures["queue"], rel=1e-9)
    assert failing.figures["interruptions"], "nothing fails: the test shows nothing"


def test_snapshots_show_failed_parts(failing: Outcome) -> None:
    assert [each["moment"] for each in failing.snapshots] == [0.4, 0.8]
    assert any(each["failed"] for each in failing.snapshots)
    for each in failing.snapshots:
        holders = {each["owner"][device] for device in each["failed"]} - {-1}
        spare = [device for device in each["failed"] if device in each["spare"]]
        assert not holders or spare, "no rank runs on a failed device"


def test_without_time_there_is_no_series() -> None:
    assert timeline(Log(0, 5.0, 5.0)) is None
