"""The studio in a real browser: edit, solve, stop, fail a part, repair, compare, save."""

from pathlib import Path

import pytest
import yaml

from planner.model.instance import Instance
from tests.paths import ROOT
from tests.planner.studio.served import GOLDEN, MOST_S, served, session_of
from tests.planner.studio.tab import Tab, tab

HOSTILE = "<img src=x onerror=\"document.title='taken'\">"
SHOWN = "document.querySelector('#frame').contentDocument"
"""the page of a plan; until a new one has come it is the last one, whatever the frame's address says"""
TILES = f"{SHOWN}.querySelectorAll('.tile.taken')"
REFUSED = "Failed to load resource"
"""what the console says of an answer that refuses"""


def _figure(page: Tab, title: str) -> list[str]:
    """One row of the table of variants."""
    rows = page.run(
        "[...document.querySelectorAll('#variants tr')].map((row) => [...row.children].map((c) => c.innerText))"
    )
    return next(cells for first, *cells in rows if first == title)


def _solve(page: Tab, number: int) -> None:
    page.click("#begin")
    page.until(f"document.querySelector('[data-key=\"show-{number}\"]')")
    page.until(f"{SHOWN}.URL.endsWith('plans/{number}.html') && {SHOWN}.readyState === 'complete' && {TILES}.length")


@pytest.mark.slow
@pytest.mark.chromium
def test_edit_solve_fail_repair_compare_and_save(tmp_path: Path) -> None:
    session = session_of(tmp_path)
    with served(session) as address, tab(tmp_path) as page:
        page.open(address)
        page.until("document.querySelectorAll('.job-row').length === 2")
        visible = "[...document.querySelectorAll('[hidden]')].filter((node) => node.getClientRects().length)"
        assert page.run(f"{visible}.map((node) => node.outerHTML)") == []
        _solve(page, 1)
        assert _figure(page, "value") == ["4"]
        assert "0 violations" in page.run(f"{SHOWN}.body.innerText")
        page.click("[data-key='keep-1']")
        page.until("document.querySelector('#variants').innerText.includes('Rename')")

        page.fill("[data-key='job-1-weight']", "-9")
        page.until("document.querySelector('#wrong').innerText.includes('jobs[three].weight: must be above 0')")
        page.fill("[data-key='job-1-weight']", "9")
        page.until("!document.querySelector('#wrong').innerText && !document.querySelector('#stale').hidden")
        page.click("#add-job")
        name, block = HOSTILE.replace('"', "'"), GOLDEN.partition("  - name: three")[2].partition("size_dist")[0]
        page.fill("#lines", f'name: "{name}"' + block.replace("\n    ", "\n"))
        page.click("#apply-job")
        page.until("document.querySelectorAll('.job-row').length === 3")
        _solve(page, 2)
        assert _figure(page, "value") == ["4", "12"]
        assert _figure(page, "jobs") == ["1 of 2", "2 of 3"]

        page.click("#pick")
        page.run(
            f"(() => {{ const tile = {TILES}[0]; tile.dispatchEvent(new MouseEvent('click', {{bubbles: true}})) }})()"
        )
        lost = page.until("document.querySelector('#breaking .part').innerText").rstrip("×").strip()
        page.click("#repair")
        page.until("document.querySelector('#moved .reason')")
        assert f"accelerator {lost} has failed" in page.text("#moved")
        assert len(_figure(page, "value")) == 3
        page.click("#compare")
        page.until(f"{SHOWN}.body.innerText.includes('Floor plans')")

        page.click("#save")
        page.until("document.querySelector('#saved').innerText.startsWith('saved to')")
        assert [job.name for job in Instance.load(session.path).jobs] == ["four", "three", name]
        session.path.write_text("name: of another\n", encoding="utf-8")
        page.click("#save")
        page.click("#replace")
        page.until("document.querySelector('#save-problem').innerText === ''")
        assert yaml.safe_load(session.path.read_text("utf-8"))["name"] == "golden"
        assert page.run("document.title") == "photonplan – studio"
        assert page.run("document.querySelectorAll('img').length") == 0
        assert [each for each in page.messages if REFUSED not in each] == []


@pytest.mark.slow
@pytest.mark.chromium
def test_stop_keeps_the_best_plan_and_the_page_fits_every_window(tmp_path: Path) -> None:
    session = session_of(tmp_path, (ROOT / "instances/ocs_rail/rails256.yaml").read_text("utf-8"))
    with served(session) as address, tab(tmp_path) as page:
        page.open(address)
        page.fill("#limit", "600")
        page.click("#begin")
        page.until("document.querySelector('#progress .chart') && document.querySelector('#begin').disabled")
        page.click("#stop")
        page.until(f"document.querySelector('#stop').hidden && {TILES}.length")
        assert session.slot.last is not None
        assert session.slot.last.elapsed_s < MOST_S
        assert session.variants[1].row.violations == 0
        assert page.text("#progress table").startswith("objective")
        page.run("document.querySelectorAll('[role=tab]')[1].click()")
        assert page.run("document.querySelector('#file').value") == session.path.read_text("utf-8")
        for width, height, theme in ((1400, 1000, "dark"), (400, 800, "light")):
            over = page.picture(tmp_path / f"{width}.png", width, height, is_dark=theme == "dark")
            assert over <= 0, "nothing is wider than the window"
            for node in ("document", SHOWN):
                page.until(f"{node}.documentElement.dataset.theme === '{theme}'")
        assert page.messages == []
