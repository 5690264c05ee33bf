"""The progress of a plan in a real browser: labels are whole and read apart, however near the plan is to its bound."""

import dataclasses
from pathlib import Path

import pytest

from planner.model.result import Incumbent
from planner.report import report_html
from tests.planner.report import rack
from tests.planner.report.browser import chart_texts


@pytest.mark.slow
@pytest.mark.chromium
@pytest.mark.parametrize("gap", [8e-5, 8e-7])
def test_labels_of_a_nearly_proven_plan_are_whole_and_read_apart(tmp_path: Path, gap: float) -> None:
    best = 312.34561
    trace = (Incumbent(0.5, "value", best, best + gap, "cpsat"), Incumbent(1.0, "value", best, best + gap, "cpsat"))
    result = dataclasses.replace(rack.result(), trace=trace)
    page = report_html(rack.instance(), result, (), command="planner solve rack.yaml", versions={})
    labels = chart_texts(tmp_path, page, "#convergence svg", 500)
    assert [label.text for label in labels if not label.is_whole] == []
    values = [float(label.text.split()[-1]) for label in labels if not label.text.endswith("s")]
    ticks, ends = values[:-2], values[-2:]
    assert len(ticks) >= 2
    assert ticks == sorted(set(ticks))
    assert ends[1] - ends[0] == pytest.approx(gap, rel=0.6)
