"""Which run is taken, and in which words, where outcomes are made up so that the answer is known."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.report.replay.front import on_front
from planner.report.replay.headline import headline
from planner.report.replay.sheet import Sheet
from planner.report.replay.verdict import choose, finding, steps_of, verdict
from planner.simulate.measures import MEASURES
from planner.simulate.run_one import Outcome, SimulationRun
from tests.planner.report.replay.small import made_up

BASE, OTHER, THIRD = ("tree", "first"), ("light", "first"), ("light", "best")
NOISE = (0.0, 0.02, -0.01, 0.01, -0.02)


def _columns(work: float, time_s: float, energy: float, *, own: Sequence[float] = NOISE) -> dict[str, list[float]]:
    """Figures of five seeds around some means; all runs share the noise but for `own`."""
    seeds = range(len(own))
    return {
        "admitted": [1.0 for _ in seeds],
        "goodput": [work + NOISE[i] + 0.001 * i * (own is not NOISE) + (own[i] - NOISE[i]) for i in seeds],
        "completion_s_mean": [time_s * (1 + own[i]) for i in seeds],
        "energy_j_per_s": [energy * (1 + own[i]) for i in seeds],
        "wait_s_p95": [time_s / 2 for _ in seeds],
    }


def _verdict(values: dict[tuple[str, str], dict[str, list[float]]]) -> tuple[Sheet, dict[str, Any]]:
    sheet = Sheet(made_up(values))
    return sheet, verdict(sheet, 0.9, MEASURES, "easy")


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


def test_more_work_is_taken() -> None:
    sheet, found = _verdict({BASE: _columns(0.6, 100, 10), OTHER: _columns(0.7, 120, 12)})
    assert (found["choice"], found["stays"], found["dropped"]) == (1, False, {0: "goodput"})
    lines = {line["measure"]: line["finding"] for line in found["lines"]}
    assert lines == {
        "goodput": "better", "completion_s_mean": "worse", "energy_j_per_s": "worse", "wait_s_p95": "worse",
        "admitted": "level",
    }  # fmt: skip
    first, gain, *_ = headline(sheet, [found])
    assert first == "Take light with first."
    assert gain.startswith("Load 0.9: 17 % [17, 17] more work, 20 % [")
    assert "more energy per unit of work" in gain


def test_among_equal_work_the_shorter_time_is_taken() -> None:
    runs = {BASE: _columns(0.6, 100, 10), OTHER: _columns(0.6, 90, 10), THIRD: _columns(0.6, 80, 10)}
    sheet, found = _verdict(runs)
    assert sheet.runs[found["choice"]] == THIRD
    assert found["dropped"] == {0: "completion_s_mean", 1: "completion_s_mean"}


def test_what_is_within_chance_or_a_hundredth_leaves_the_baseline() -> None:
    wide = (0.3, -0.25, 0.2, -0.3, 0.1)
    for other in (_columns(0.61, 99, 9.99, own=wide), _columns(0.603, 99.5, 9.95)):
        sheet, found = _verdict({BASE: _columns(0.6, 100, 10), OTHER: other})
        assert found["stays"]
        assert headline(sheet, [found])[0] == "Stay with tree with first."
    assert "which is below 1 %" in headline(sheet, [found])[1]


def test_a_run_that_refuses_jobs_is_left_out_though_it_does_more() -> None:
    refusing = _columns(0.7, 50, 5) | {"admitted": [0.9, 0.91, 0.9, 0.9, 0.92], "never_fit": [9.0] * 5}
    _, found = _verdict({BASE: _columns(0.6, 100, 10), OTHER: refusing})
    assert (found["stays"], found["dropped"]) == (True, {1: "admitted"})
    sheet = Sheet(made_up({OTHER: refusing}))
    assert "no place for 9 jobs a seed" in verdict(sheet, 0.9, MEASURES, "easy")["warnings"][0]
    assert "admitted" not in steps_of(MEASURES, "loss")


def test_the_lost_advantage_of_another_is_told() -> None:
    sheet, found = _verdict({BASE: _columns(0.6, 100, 10), OTHER: _columns(0.5, 100, 6)})
    told = headline(sheet, [found])[1]
    assert "light with first, the best of the others, does 17 % [17, 17] less work." in told
    assert "light with first has 40 % [" in told
    assert "less energy per unit of work, but does less work." in told


def test_one_seed_decides_nothing() -> None:
    runs = {run: {name: column[:1] for name, column in _columns(work, 100, 10).items()} for run, work in
            ((BASE, 0.6), (OTHER, 0.9))}  # fmt: skip
    sheet, found = _verdict(runs)
    assert found["stays"]
    assert {line["finding"] for line in found["lines"]} == {"unknown"}
    assert "one seed, no interval" in headline(sheet, [found])[0]


def test_a_growing_queue_is_told() -> None:
    series = {"begin_s": 0.0, "end_s": 8.0, "busy": [1.0] * 8, "stranded": [0.0] * 8}
    grows = Outcome({"goodput": 0.5}, {}, {**series, "queue": [float(10 * i) for i in range(8)]})
    steady = Outcome({"goodput": 0.5}, {}, {**series, "queue": [30.0, 5, 5, 6, 5, 6, 5, 6]})
    sheet = Sheet({SimulationRun(*BASE, 0.9, 0): steady, SimulationRun(*OTHER, 0.9, 0): grows})
    warnings = verdict(sheet, 0.9, MEASURES, "easy")["warnings"]
    assert len(warnings) == 1
    assert "The queue still grows at the end in light with first:" in warnings[0]


def test_loads_that_differ_are_told_apart() -> None:
    sheet, one = _verdict({BASE: _columns(0.6, 100, 10), OTHER: _columns(0.7, 100, 10)})
    two = {**one, "load": 0.5, "choice": 0, "stays": True}
    assert headline(sheet, [two, one])[0] == "At load 0.5 stay with tree with first; at load 0.9 take light with first."
    assert headline(sheet, [one, {**one, "load": 0.8}])[0] == "Take light with first at every load."


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


def test_rounding_is_no_difference() -> None:
    almost = _columns(0.6, 100, 10) | {"goodput": [value * (1 + 4e-16) for value in _columns(0.6, 100, 10)["goodput"]]}
    sheet, found = _verdict({BASE: _columns(0.6, 100, 10), OTHER: almost})
    assert "e−" not in headline(sheet, [found])[1]
    assert "does 0 % [0, 0]" in headline(sheet, [found])[1]
