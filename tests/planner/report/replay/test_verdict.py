"""Which run is taken, and in which words, where outcomes are made up so that the answer is known."""

from planner.report.replay.sheet import Sheet
from planner.report.replay.verdict import choose, steps_of, verdict
from planner.simulate.measures import MEASURES
from planner.simulate.run_one import Outcome, SimulationRun
from tests.planner.report.replay.small import made_up
from tests.planner.report.replay.verdict_cases import BASE, OTHER, THIRD, columns, judged


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
