"""The page in a real browser: what it shows, and that it shows it without an error."""

import dataclasses
import html
import importlib
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest

from planner.model.edit import edited
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.model.result import Incumbent, LeftOut, Result, Status
from planner.model.violation import Violation
from planner.report import report_html
from tests.planner.report import rack
from tests.planner.report.browser import browse, chart_texts, dom_of


def _page(instance: Instance, result: Result, violations: tuple[Violation, ...] = ()) -> str:
    command = "planner solve rack.yaml --report rack.html"
    return report_html(instance, result, violations, command=command, versions={"photonplan": "0.1.0"})


def _count(dom: str, css_class: str) -> int:
    return len(re.findall(rf'class="{css_class}"', dom))


@pytest.mark.slow
@pytest.mark.chromium
def test_the_rack_and_the_selected_job_are_shown(tmp_path: Path) -> None:
    dom = dom_of(tmp_path, _page(rack.instance(), rack.result()))
    assert _count(dom, "tile taken selected") == 4
    assert _count(dom, "tile taken") == 1
    assert _count(dom, "tile failed") == 2, "one tile and its key"
    assert _count(dom, "circuit") == 2
    assert _count(dom, "circuit fiber") == 3, "two circuits and their key"
    assert "s0.t1 → s1.t0, 8 wavelengths: 0–7, fiber s0&gt;s1#0, loss 1.25 dB of 6 dB" in dom
    for text in ("0 violations", "tensor: ring w8", "Time of one step", "only 6 devices have light"):
        assert text in dom


@pytest.mark.slow
@pytest.mark.chromium
def test_names_are_text_and_never_markup(tmp_path: Path) -> None:
    dom = dom_of(tmp_path, _page(rack.instance(), rack.result()))
    for name in (rack.RING, rack.LEFT_OUT, "rack <i>of</i> two"):
        assert html.escape(name, quote=False) in dom
    assert "<b>ring" not in dom
    assert "<i>of" not in dom
    assert "alert(1)</script>" not in dom


@pytest.mark.slow
@pytest.mark.chromium
def test_it_answers_clicks_and_keys(tmp_path: Path) -> None:
    page = re.sub("<meta http-equiv.*?>", "", _page(rack.instance(), rack.result()))
    user = """
      const press = (node, key) => node.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true}));
      const shown = [];
      const show = (text) => shown.push(text);
      press(document.querySelector('[data-name="s0.t0"]'), "ArrowRight");
      show(document.activeElement.dataset.name);
      press(document.querySelector('[data-name="s0.t0"]'), "ArrowDown");
      show(document.activeElement.dataset.name);
      press(document.querySelector(".circuit"), "ArrowRight");
      show(document.getElementById("tip").textContent);
      document.querySelector('[data-name="s1.t2"]').dispatchEvent(new Event("click"));
      show(document.querySelectorAll(".rack .circuit").length);
      show(document.querySelector("#job h2").textContent);
      document.querySelector("#table th:nth-child(14) button").click();
      show([...document.querySelectorAll("#table tbody tr")].map((row) => row.dataset.job).join(" "));
      document.querySelector(".theme button").click();
      show(document.documentElement.dataset.theme);
      document.documentElement.dataset.shown = shown.join("|");
    """
    dom = dom_of(tmp_path, page.replace("</body>", f"<script>{user}</script></body>"))
    shown = html.unescape(re.search('data-shown="([^"]*)"', dom)[1]).split("|")  # type: ignore[index]
    assert shown[:2] == ["s0.t1", "s0.t2"]
    assert shown[2].startswith("s0.t1 → s1.t0")
    assert shown[3:] == ["0", rack.SINGLE, "1 0 2", "dark"]


@pytest.mark.slow
@pytest.mark.chromium
def test_violations_are_listed(tmp_path: Path) -> None:
    violation = Violation("tile", "s0.t1", "sends <9> wavelengths")
    dom = dom_of(tmp_path, _page(rack.instance(), rack.result(), (violation,)))
    assert "1 violation" in dom
    assert "s0.t1: sends &lt;9&gt; wavelengths (tile)" in dom
    assert "do not deploy" in dom


@pytest.mark.slow
@pytest.mark.chromium
def test_without_a_plan_the_reason_is_shown(tmp_path: Path) -> None:
    reason = LeftOut(rack.RING, "needs 9 devices of one server")
    dom = dom_of(tmp_path, _page(rack.instance(), Result(Status.INFEASIBLE, "cpsat", left_out=(reason,))))
    assert "There is no plan." in dom
    assert "Why there is no plan" in dom
    assert "needs 9 devices of one server" in dom


@pytest.mark.slow
@pytest.mark.chromium
def test_a_fabric_without_circuits(tmp_path: Path) -> None:
    ring = {"kind": "ring"}
    configuration = {"context": 2, "micro_batch": 1, "block": 2, "data_collective": ring, "context_collective": ring}
    fields = {"job": "solo", "devices": ["s0.g0", "s0.g1"], "configuration": configuration}
    assignment = Assignment.model_validate(fields)
    result = Result(Status.FEASIBLE, "first_fit", Plan(instance="tree", assignments=(assignment,)))
    dom = dom_of(tmp_path, _page(rack.fat_tree(), result))
    assert "Packets are switched" in dom
    assert "Fibers in use" not in dom
    assert "context 2 · micro-batch 1" in dom
    assert ">cp2<" in dom


@pytest.mark.slow
@pytest.mark.chromium
def test_several_racks(tmp_path: Path) -> None:
    fabric = edited(rack.instance().cluster.fabric, racks=2)
    cluster = rack.instance().cluster.model_copy(update={"fabric": fabric})
    instance = rack.instance().model_copy(update={"cluster": cluster})
    healthy = cluster.model_copy(update={"health": type(cluster.health)()})
    page = _page(instance.model_copy(update={"cluster": healthy}), Result(Status.NO_PLAN, "cpsat"))
    dom = dom_of(tmp_path, page)
    assert "Rack r0" in dom
    assert "Rack r1" in dom


@pytest.mark.slow
@pytest.mark.chromium
@pytest.mark.parametrize("options", [(), ("--force-dark-mode",), ("--window-size=480,900",)])
def test_a_picture_of_the_page(tmp_path: Path, options: tuple[str, ...]) -> None:
    picture = tmp_path / "page.png"
    browse(tmp_path, _page(rack.instance(), rack.result()), f"--screenshot={picture}", *options)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
@pytest.mark.chromium
@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window(tmp_path: Path, width: int, scheme: str) -> None:
    """A frame stands for the window, which no browser makes as narrow as a phone's."""
    page = re.sub("<meta http-equiv.*?>", "", _page(rack.instance(), rack.result()))
    told = "document.body.dataset.needed = frames[0].document.documentElement.scrollWidth"
    frame = f'<iframe width="{width}" height="900" srcdoc="{html.escape(page)}" onload="{told}"></iframe>'
    dark = ("--force-dark-mode",) if scheme == "dark" else ()
    dom = browse(tmp_path, f"<!doctype html><body>{frame}</body>", "--dump-dom", *dark)
    assert 0.9 * width <= int(re.search('data-needed="([0-9]+)"', dom)[1]) <= width  # type: ignore[index]


def test_the_page_asks_for_nothing_outside() -> None:
    page = _page(rack.instance(), rack.result())
    addresses = set(re.findall(r"https?://[^\s\"'`]+", page))
    assert addresses == {"http://www.w3.org/2000/svg"}, "the name of a format, never fetched"
    assert "default-src 'none'" in page
    assert "innerHTML" not in page


def test_the_page_is_the_same_each_time() -> None:
    result = dataclasses.replace(rack.result(), seed=3)
    assert _page(rack.instance(), result) == _page(rack.instance(), result)


@pytest.mark.slow
@pytest.mark.chromium
def test_circuits_whose_ways_are_written_as_steps_are_counted_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def steps(numbers: Sequence[int]) -> dict[str, list[int]]:
        return {"steps": [part for before, number in pairwise((0, *numbers)) for part in (number - before, 1)]}

    usual = dom_of(tmp_path, _page(rack.instance(), rack.result()))
    monkeypatch.setattr(importlib.import_module("planner.report.compact"), "steps", steps)
    assert "4 circuits" in usual
    assert dom_of(tmp_path, _page(rack.instance(), rack.result())) == usual


@pytest.mark.slow
@pytest.mark.chromium
@pytest.mark.parametrize("gap", [8e-5, 8e-7])
def test_labels_of_a_nearly_proven_plan_are_whole_and_read_apart(tmp_path: Path, gap: float) -> None:
    best = 312.34561
    trace = (Incumbent(0.5, "value", best, best + gap, "cpsat"), Incumbent(1.0, "value", best, best + gap, "cpsat"))
    result = dataclasses.replace(rack.result(), trace=trace)
    page = _page(rack.instance(), result)
    labels = chart_texts(tmp_path, page, "#convergence svg", 500)
    assert [label.text for label in labels if not label.is_whole] == []
    values = [float(label.text.split()[-1]) for label in labels if not label.text.endswith("s")]
    ticks, ends = values[:-2], values[-2:]
    assert len(ticks) >= 2
    assert ticks == sorted(set(ticks))
    assert ends[1] - ends[0] == pytest.approx(gap, rel=0.6)
