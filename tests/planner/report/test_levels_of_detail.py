"""A page of many accelerators in a real browser: from all racks to one server, by clicks, keys and search."""

import html
import re
from pathlib import Path

import pytest

from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import Result, Status
from planner.report import report_html
from tests.planner.report import rack
from tests.planner.report.browser import dom_of

MOST_BYTES = 250_000
"""of a page that is all but empty: what 65,536 accelerators cost without jobs"""


def _large() -> tuple[Instance, Result]:
    """64 racks of 128 servers of 8 with one job, far from the first rack."""
    small = rack.fat_tree().cluster.fabric.model_dump(exclude_none=True)
    jobs = [{"name": f"job{i}", "workload": rack.TRAINING, "accelerators": 2} for i in range(70)]
    cluster = {"device": "h100-sxm", "fabric": small | {"servers": 128, "gpus_per_server": 8, "racks": 64}}
    instance = Instance.parse({"schema_version": 2, "name": "large", "cluster": cluster, "jobs": jobs})
    devices = ["r40.s17.g3", "r40.s17.g4"]
    placed = {"job": "job66", "devices": devices, "configuration": {"data": 2, "micro_batch": 1, "block": 2}}
    plan = Plan.model_validate({"instance": "large", "assignments": [placed]})
    return instance, Result(Status.FEASIBLE, "best_fit", plan)


@pytest.mark.slow
@pytest.mark.chromium
def test_levels_search_and_keys_at_65536_accelerators(tmp_path: Path) -> None:
    page = report_html(*_large(), (), command="c", versions={})
    assert len(page) < MOST_BYTES
    user = """
      const shown = [];
      const press = (node, key) => node.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
      const count = (selector) => document.querySelectorAll(selector).length;
      const show = () => shown.push([count(".tile[data-device]"), document.querySelector(".crumbs").textContent,
        document.activeElement.dataset.name ?? document.activeElement.dataset.section ?? ""].join());
      show();
      shown.push(count(".mini"), document.querySelector(".mini.mine").textContent);
      document.querySelector(".mini.on").focus();
      press(document.activeElement, "ArrowRight");
      press(document.activeElement, "Enter");
      show();
      const field = document.querySelector(".search input");
      const find = (text) => { field.value = text; field.dispatchEvent(new Event("input")); press(field, "Enter"); };
      find("r3.s5.g7");
      show();
      press(document.activeElement, "+");
      show();
      press(document.activeElement, "Escape");
      show();
      find("job66");
      show();
      shown.push(count(".tile.selected"), count("#table tbody tr"));
      document.documentElement.dataset.shown = shown.join("|");
    """
    page = re.sub("<meta http-equiv.*?>", "", page).replace("</body>", f"<script>{user}</script></body>")
    dom = dom_of(tmp_path, page)
    shown = html.unescape(re.search('data-shown="([^"]*)"', dom)[1]).split("|")  # type: ignore[index]
    assert shown == [
        "1024,Rack r40,", "64", "r40", "1024,Rack r41,41", "1024,Rack r3,r3.s5.g7", "8,Rack r3 › Server r3.s5,r3.s5.g7",
        "1024,Rack r3,r3.s5.g7", "1024,Rack r40,", "2", "70",
    ]  # fmt: skip
