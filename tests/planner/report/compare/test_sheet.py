"""Rows of a comparison are found by condition and run, and by who compares with whom."""

import pytest

from planner.report.compare.sheet import ComparisonSheet, condition_of, measures_of
from tests.planner.report.compare.rows import ROWS, row


def test_figures_are_by_seed_of_rows_that_have_a_plan() -> None:
    sheet = ComparisonSheet([*ROWS, row("late", None, parameters={"cluster.fabric.fibers": 1}, wall_time_s=9.0)])
    assert sheet.conditions == ["fibers=1", "fibers=2"]
    assert sheet.values("fibers=2", ("rack", "cpsat"), "value") == {0: 10.0, 1: pytest.approx(10.1)}
    assert sheet.values("fibers=1", ("rack", "late"), "admitted") == {}
    assert sheet.values("fibers=1", ("rack", "late"), "wall_time_s") == {0: 9.0}
    assert not sheet.is_sound("fibers=1", ("rack", "late"))
    assert not sheet.is_sound("fibers=2", ("rack", "late")), "it was not run"


def test_runs_with_the_most_jobs_compare_in_what_they_take() -> None:
    others = [row("a", 6.0, instance="pod", admitted=4), row("b", 5.0, instance="pod", violations=1, admitted=5)]
    sheet = ComparisonSheet([row("a", 5.0), row("b", 3.0), row("c", 7.0, admitted=2), *others])
    (same,) = sheet.groups("", are_same_jobs=True)
    assert same == [("rack", "a"), ("rack", "b"), ("rack", "c"), ("pod", "a")]
    assert sheet.with_most_jobs("", same) == [("pod", "a")]
    rack, pod = sheet.groups("", are_same_jobs=False)
    assert (sheet.with_most_jobs("", rack), pod) == ([("rack", "a"), ("rack", "b")], [("pod", "a")])


def test_conditions_and_measures_in_words() -> None:
    assert (
        condition_of(row("a", 1.0, parameters={"jobs[x].weight": 2, "cluster.fabric.fibers": 4}))
        == "weight=2, fibers=4"
    )
    priced = ComparisonSheet([row("a", 1.0, cost_per_h=3.0)])
    assert measures_of(priced, "EUR", with_timings=False)["cost_per_h"].unit == "EUR"
    assert "wall_time_s" not in measures_of(priced, None, with_timings=False)
