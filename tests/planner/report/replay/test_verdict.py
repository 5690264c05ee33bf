"""Which run is taken, and in which words, where outcomes are made up so that the answer is known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.report.replay.front import on_front
from planner.report.replay.sheet import Sheet
from planner.report.replay.verdict import choose, finding, steps_of, verdict
from planner.simulate.measures import MEASURES
from planner.simulate.run_one import Outcome, SimulationRun
from tests.planner.report.replay.small import made_up
from tests.planner.report.replay.verdict_cases import BASE, OTHER, THIRD, columns, judged


@pytest.mark.parametrize(
    ("less", "scale", "better", "found"),
    [
        ((0.1, 0.05), 1.0, "more", "better"),
        ((0.1, 0.05), 1.0, "less", "worse"),
        ((-0.1, 0.05), 1.0, "less", "better"),
        ((0.1, 0.2), 1.0, "more", "level"),
        ((0.0, 0.0), 1.0, "more", "level"),
        ((0.005, 0.001), 1.0, "more", "slight"),
        ((0.1, None), 1.0, "more", "unknown"),
        ((None, None), None, "more", "unknown"),
    ],
)
def test_findings(less: tuple[float | None, float | None], scale: float | None, better: str, found: str) -> None:
    assert finding(less, scale, better) == found


def test_among_equal_work_the_shorter_time_is_taken() -> None:
    runs = {BASE: columns(0.6, 100, 10), OTHER: columns(0.6, 90, 10), THIRD: columns(0.6, 80, 10)}
    sheet, found = judged(runs)
    assert sheet.runs[found["choice"]] == THIRD
    assert found["dropped"] == {0: "completion_s_mean", 1: "completion_s_mean"}


def test_a_run_that_refuses_jobs_is_left_out_though_it_does_more() -> None:
    refusing = columns(0.7, 50, 5) | {"admitted": [0.9, 0.91, 0.9, 0.9, 0.92], "never_fit": [9.0] * 5}
    _, found = judged({BASE: columns(0.6, 100, 10), OTHER: refusing})
    assert (found["stays"], found["dropped"]) == (True, {1: "admitted"})
    sheet = Sheet(made_up({OTHER: refusing}))
    assert "no place for 9 jobs a seed" in verdict(sheet, 0.9, MEASURES, "easy")["warnings"][0]
    assert "admitted" not in steps_of(MEASURES, "loss")


def test_a_growing_queue_is_told() -> None:
    series = {"begin_s": 0.0, "end_s": 8.0, "busy": [1.0] * 8, "stranded": [0.0] * 8}
    grows = Outcome({"goodput": 0.5}, {}, {**series, "queue": [float(10 * i) for i in range(8)]})
    steady = Outcome({"goodput": 0.5}, {}, {**series, "queue": [30.0, 5, 5, 6, 5, 6, 5, 6]})
    sheet = Sheet({SimulationRun(*BASE, 0.9, 0): steady, SimulationRun(*OTHER, 0.9, 0): grows})
    warnings = verdict(sheet, 0.9, MEASURES, "easy")["warnings"]
    assert len(warnings) == 1
    assert "The queue still grows at the end in light with first:" in warnings[0]


def test_a_missing_measure_is_no_step() -> None:
    sheet = Sheet(made_up({BASE: {"goodput": [0.5, 0.6]}, OTHER: {"goodput": [0.7, 0.81]}}))
    assert choose(sheet, 0.9, steps_of(MEASURES, "easy"), MEASURES)[0] == OTHER


Points = st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 5).map(float))] * 2), max_size=8)


@pytest.mark.slow
@given(Points)
def test_the_front_is_what_nothing_dominates(points: list[tuple[float | None, float | None]]) -> None:
    marked = on_front(points)
    for i, (gain, cost) in enumerate(points):
        if gain is None or cost is None:
            assert not marked[i]
            continue
        beaten = False
        for other_gain, other_cost in points:
            if other_gain is not None and other_cost is not None:
                no_worse = other_gain >= gain and other_cost <= cost
                beaten = beaten or (no_worse and (other_gain > gain or other_cost < cost))
        assert marked[i] == (not beaten)
