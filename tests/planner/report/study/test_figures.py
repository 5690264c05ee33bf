"""How paired differences are read, and who compares with whom."""

import pytest

from planner.report.study.figures import FigureSheet, Run, finding, rounded, standing
from planner.simulate.measures import Measure


class _Made(FigureSheet):
    """Values by run and seed, of one measure under one condition."""

    def __init__(self, columns: dict[Run, list[float]]) -> None:
        self.runs, self.columns = list(columns), columns

    def values(self, condition: object, run: Run, measure: str) -> dict[int, float]:
        return dict(enumerate(self.columns[run]))


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


def test_standings_are_of_the_runs_that_compare() -> None:
    a, b, c = ("x", "a"), ("x", "b"), ("x", "c")
    sheet = _Made({a: [5.0, 5.1, 5.0], b: [3.0, 3.1, 3.0], c: [1.0, 1.0, 1.0]})
    power = Measure("power", "W", "of all", "less")
    assert standing(sheet, None, "power_w", power) == ["worse", "worse", "best"]
    assert standing(sheet, None, "power_w", power, [[a, b]]) == ["worse", "best", ""]
    assert standing(sheet, None, "power_w", power._replace(better="")) is None


def test_all_that_tie_are_the_best_and_groups_have_a_best_each() -> None:
    a, b, c = ("x", "a"), ("x", "b"), ("y", "a")
    gap = Measure("gap", "", "of all", "less", is_share=True)
    tied = _Made({a: [0.0], b: [1e-12], c: [0.2]})
    assert standing(tied, None, "gap", gap) == ["best", "best", "unknown"]
    assert standing(tied, None, "gap", gap, [[a, b], [c]]) == ["best", "best", "best"]
    jobs = Measure("jobs", "", "of all", "more")
    assert standing(_Made({a: [4.0, 4.0], b: [4.0, 4.0], c: [3.0, 3.0]}), None, "jobs", jobs) == [
        "best",
        "best",
        "worse",
    ]


def test_six_digits_are_kept() -> None:
    assert rounded({"a": [1.23456789, 7], "b": (None, "text")}) == {"a": [1.23457, 7], "b": [None, "text"]}
