"""The page of a comparison in a real browser: what it shows, how it answers, and that it asks nobody."""

import html
import re
from pathlib import Path

import pytest

from planner.report.compare import compare_html
from tests.planner.report.browser import chart_texts, dom_of
from tests.planner.report.compare.rows import ROWS

USER = """
  const shown = [];
  const text = (path) => document.querySelector(path).textContent;
  const chip = (title, i) => document.querySelectorAll(`fieldset[aria-label="${title}"] input`)[i];
  shown.push(text("#table h2"));
  chip("Variant", 0).click();
  shown.push(text("#table h2"), text("#front h3"));
  chip("Runs", 1).click();
  shown.push(document.querySelectorAll("#front .point").length);
  document.querySelector("#plots .interval").dispatchEvent(new Event("focus"));
  shown.push(document.getElementById("tip").textContent);
  document.documentElement.dataset.shown = shown.join("|");
"""


def _page() -> str:
    return compare_html(
        ROWS, currency=None, notes=["a <note>"], are_same_jobs=True, with_timings=False,
        command="planner compare <a>", versions={}, inputs={"rack <i>.yaml": "ab" * 32},
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.chromium
def test_it_shows_who_leads_and_answers_clicks(tmp_path: Path) -> None:
    page = _page()
    assert len(page) < 100_000
    open_page = re.sub("<meta http-equiv.*?>", "", page)
    dom = dom_of(tmp_path, open_page.replace("</body>", f"<script>{USER}</script></body>"))
    shown = html.unescape(re.search('data-shown="([^"]*)"', dom)[1]).split("|")  # type: ignore[index]
    assert shown == [
        "Measures with fibers=2", "Measures with fibers=1", "Value over power, fibers=1", str(2 * 3 - 2),
        "cpsatfibers=1: 9.05 ± 0.64bound: 10",
    ]  # fmt: skip
    assert len(re.findall('class="limit', dom)) > 0
    assert "…" not in dom
    assert "a &lt;note&gt;" in dom
    assert "rack &lt;i&gt;.yaml" in dom
    assert "NaN" not in dom
    assert "undefined" not in dom
    assert "http" not in re.sub(r'xmlns(:\w+)?="[^"]*"', "", dom)


@pytest.mark.slow
@pytest.mark.chromium
def test_the_reference_of_worse_runs_is_named_within_the_plot(tmp_path: Path) -> None:
    texts = chart_texts(tmp_path, _page(), "#intervals .plots > :nth-child(2) svg", 1400)
    assert "reference" in [text.text for text in texts]
    assert [text.text for text in texts if not text.is_whole] == []
