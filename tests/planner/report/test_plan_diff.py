"""The page of two plans in a real browser."""

import re
from pathlib import Path

import pytest

from planner.report.plan_diff import diff_data, diff_html
from planner.whatif.plan_changes import changes
from tests.planner.report import rack
from tests.planner.report.browser import dom_of


def test_jobs_have_their_accelerators_before_and_after() -> None:
    plan = rack.plan()
    alone = plan.model_copy(update={"assignments": plan.assignments[1:]})
    columns = diff_data(rack.instance(), changes(alone, plan), ("a.json", "b.json"))["jobs"]["columns"]
    assert columns["kind"] == ["starts", "stays"]
    assert columns["before"] == [[], [6, 1]]
    assert columns["plan"]["fields"]["devices"] == [[0, 2, 4, 2], [6, 1]]
    assert columns["set_up"][0][1] == "s0.t1 to s1.t0 over s0>s1#0"


@pytest.mark.slow
@pytest.mark.chromium
def test_the_page_draws_both_plans(tmp_path: Path) -> None:
    plan = rack.plan()
    alone = plan.model_copy(update={"assignments": plan.assignments[1:]})
    page = diff_html(rack.instance(), changes(alone, plan), ("a.json", "b.json"))
    assert set(re.findall(r"https?://[^\s\"'`]+", page)) == {"http://www.w3.org/2000/svg"}
    dom = dom_of(tmp_path, page)
    assert len(re.findall('class="tile taken entered', dom)) == 5, "four accelerators and their key"
    assert "s0.t0, free before, 1 &lt;b&gt;ring&lt;/b&gt; after" in dom
    assert "s0.t1 to s1.t0 over s0&gt;s1#0" in dom
