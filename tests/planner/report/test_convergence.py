"""The progress of a plan in a real browser: labels are whole and read apart, however near the plan is to its bound."""

import dataclasses
import json
import re
from pathlib import Path

import pytest

from planner.model.result import Incumbent
from planner.report import report_html
from tests.planner.report import rack
from tests.planner.report.browser import browse

LABELS = """
  const picture = document.querySelector("#convergence svg");
  const all = picture.getBoundingClientRect();
  const found = [...picture.querySelectorAll("text")].map((text) => {
    const box = text.getBoundingClientRect();
    return [text.textContent, box.left >= all.left && box.right <= all.right];
  });
  document.body.replaceChildren(JSON.stringify(found));
"""


@pytest.mark.slow
@pytest.mark.chromium
@pytest.mark.parametrize("gap", [8e-5, 8e-7])
def test_labels_of_a_nearly_proven_plan_are_whole_and_read_apart(tmp_path: Path, gap: float) -> None:
    best = 312.34561
    trace = (Incumbent(0.5, "value", best, best + gap, "cpsat"), Incumbent(1.0, "value", best, best + gap, "cpsat"))
    result = dataclasses.replace(rack.result(), trace=trace)
    page = report_html(rack.instance(), result, (), command="planner solve rack.yaml", versions={})
    page = re.sub("<meta http-equiv.*?>", "", page).replace("</body>", f"<script>{LABELS}</script></body>")
    printed = browse(tmp_path, page, "--dump-dom", "--window-size=500,900")
    found = re.search(r"<body>(\[.*\])\s*</body>", printed, flags=re.DOTALL)
    assert found is not None
    labels: list[tuple[str, bool]] = json.loads(found[1])
    assert [text for text, is_whole in labels if not is_whole] == []
    values = [float(text.split()[-1]) for text, _ in labels if not text.endswith("s")]
    ticks, ends = values[:-2], values[-2:]
    assert len(ticks) >= 2
    assert ticks == sorted(set(ticks))
    assert ends[1] - ends[0] == pytest.approx(gap, rel=0.6)
