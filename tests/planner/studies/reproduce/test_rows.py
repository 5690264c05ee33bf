"""Files of published experiments, and the verdict on each figure."""

from typing import Any

import pytest

from planner.studies.reproduce.published import Figure
from planner.studies.reproduce.rows import PublishedRow, judge, tally


def _row(quantities: dict[str, float], **fields: Any) -> PublishedRow:
    figure = Figure.model_validate({"quantity": "q", "source": "table 1", **fields})
    return judge("paper", "experiment", figure, quantities)


@pytest.mark.parametrize(
    ("ours", "fields", "verdict"),
    [
        (1.0999, {"value": 1.0, "tolerance": "10 %"}, "reproduced"),
        (1.1, {"value": 1.0, "tolerance": "10 %"}, "reproduced"),
        (1.1001, {"value": 1.0, "tolerance": "10 %"}, "outside"),
        (0.8999, {"value": 1.0, "tolerance": "10 %"}, "outside"),
        (-1.09, {"value": -1.0, "tolerance": "10 %"}, "reproduced"),
        (0.168, {"value": 14, "unit": "%", "tolerance": 3}, "reproduced"),
        (0.172, {"value": 14, "unit": "%", "tolerance": 3}, "outside"),
        (128.0, {"value": 128}, "reproduced"),
        (128.001, {"value": 128}, "outside"),
        (1.41, {"range": [1.39, 1.43]}, "reproduced"),
        (1.45, {"range": [1.39, 1.43]}, "outside"),
        (1e9, {"range": [0.9, None]}, "reproduced"),
        (0.89, {"range": [0.9, None], "tolerance": "1 %"}, "outside"),
        (0.89, {"range": [0.9, None], "tolerance": "2 %"}, "reproduced"),
        (-5.0, {"range": [None, 1.0]}, "reproduced"),
        (1.45, {"range": [1.39, 1.43], "tolerance": 0.03}, "reproduced"),
        (4033e3, {"value": 4032.15, "unit": "kJ", "tolerance": "0.1 %"}, "reproduced"),
        (8 * 10e-12, {"value": 10, "unit": "pJ/bit"}, "reproduced"),
        (2.0, {"value": 1.0, "expect": "contradicted", "reason": "why"}, "contradicted"),
        (1.0, {"value": 1.0, "expect": "contradicted", "reason": "why"}, "reproduced"),
        (1.0, {"value": 1.0, "expect": "fitted", "reason": "why"}, "fitted"),
        (2.0, {"value": 1.0, "expect": "fitted", "reason": "why"}, "outside"),
        (1.0, {"value": 1.0, "expect": "by construction"}, "by construction"),
        (2.0, {"value": 1.0, "expect": "by construction"}, "outside"),
    ],
)
def test_verdicts(ours: float, fields: dict[str, Any], verdict: str) -> None:
    assert _row({"q": ours}, **fields).verdict == verdict


def test_only_what_is_required_and_outside_fails() -> None:
    assert _row({"q": 2.0}, value=1.0).is_failure
    assert not _row({"q": 2.0}, value=1.0, required=False).is_failure
    assert not _row({"q": 2.0}, value=1.0, expect="contradicted", reason="why").is_failure


def test_a_contradiction_that_vanished_has_no_reason_left() -> None:
    assert _row({"q": 1.0}, value=1.0, expect="contradicted", reason="why").reason == ""


def test_what_is_not_derivable_has_no_figure_of_ours() -> None:
    row = _row({}, value=1.0, expect="not derivable", reason="why")
    assert (row.verdict, row.ours, row.reason) == ("not derivable", None, "why")
    assert tally([row])["not derivable"] == 1
    with pytest.raises(ValueError, match="yet it is computed; drop `expect`"):
        _row({"q": 1.0}, value=1.0, expect="not derivable", reason="why")


def test_a_figure_counts_once() -> None:
    rows = [_row({"q": 1.0}, value=1.0), _row({"q": 2.0}, value=1.0, counts=False, required=False)]
    assert {verdict: count for verdict, count in tally(rows).items() if count} == {"reproduced": 1}


def test_what_is_fitted_and_outside_fails() -> None:
    assert _row({"q": 2.0}, value=1.0, expect="fitted", reason="why").is_failure


def test_other_readings_are_in_the_same_unit() -> None:
    assert _row({"q": 0.5, "r": 0.4}, value=50, unit="%", beside={"weak": "r"}).beside == {"weak": pytest.approx(40)}
    with pytest.raises(ValueError, match="the experiment computes no 'r'; it computes q"):
        _row({"q": 0.5}, value=50, unit="%", beside={"weak": "r"})
    with pytest.raises(ValueError, match="gives nan"):
        _row({"q": float("nan")}, value=1.0)
