"""Circuits and memory under the names of their fabric, on every fabric: what is told follows from the plan alone."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from costmodel.fabrics import OcsRail, Sipam
from planner.checks import check
from planner.fabrics import plugin_of
from planner.model.instance import Instance
from planner.model.result import Result, SolveOptions
from planner.pipeline import solve
from planner.report import report_html
from planner.report.data import page_data
from tests.paths import ROOT
from tests.planner.report.browser import dom_of
from tests.planner.simulate.grounds import BERT, CHAT, FABRICS

SCRIPTS = ROOT / "planner" / "report"
DIVIDED = FABRICS["fat_tree"] | {
    "kind": "divided_ports",
    "port_energy": "5 pJ/b",
    "memory": {
        "kind": "appliances", "part": "photonic-fabric-appliance", "ports": 8, "per_server": 2, "hit": 0.9,
        "link_latency": "100 ns", "link_energy": "5 pJ/b",
    },
}  # fmt: skip
CHANNELS = {"lightpath": "wavelengths", "ocs_rail": "switches", "sipam": "rails", "torus": "circuits"}


@cache
def planned(fabric: str) -> tuple[Instance, Result]:
    """A job over servers and one inside a server, placed by best fit."""
    jobs = [
        {"name": "wide", "workload": BERT, "accelerators": 16, "weight": 3},
        {"name": "chat", "workload": CHAT, "accelerators": 2},
    ]
    cluster = {"device": "h100-sxm", "fabric": FABRICS[fabric]}
    instance = Instance.parse({"schema_version": 2, "name": fabric, "cluster": cluster, "jobs": jobs})
    result = solve(instance, policy="best_fit", options=SolveOptions(workers=1))
    assert result.plan is not None
    assert not list(check(instance, result.plan))
    return instance, result


def drawn(instance: Instance) -> dict[str, Any]:
    """Names of circuits."""
    fabric = instance.cluster.fabric
    return plugin_of(fabric).drawing.names(fabric)


def _data(fabric: str) -> dict[str, Any]:
    instance, result = planned(fabric)
    return page_data(instance, result, (), command="", versions={}, reasons={})


def _circuits(data: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        each for job in data["jobs"] if job["plan"] for held in job["plan"]["circuits"] for each in held["circuits"]
    ]


@pytest.mark.slow
@pytest.mark.parametrize("fabric", sorted(FABRICS))
def test_every_fabric_has_names_of_its_own(fabric: str) -> None:
    instance, _ = planned(fabric)
    of, data = instance.cluster.fabric, _data(fabric)
    words = data["fabric"]["light"]
    assert words["channels"] == CHANNELS.get(fabric)
    assert bool(words["why"]) is not of.has_circuits
    assert bool(_circuits(data)) is of.has_circuits
    for circuit in _circuits(data):
        servers = {of.parse_device(circuit[end])[0] for end in ("source", "destination")}
        text = ", ".join(circuit["lines"])
        assert circuit["kind"] == ("inside" if len(servers) == 1 and fabric != "torus" else "beyond")
        assert ("inside" in text) is (circuit["kind"] == "inside")
        assert ("wavelength" in text) is (fabric == "lightpath")
        assert len(circuit["cells"]) == len(words["columns"])
        assert words[circuit["kind"]]


@pytest.mark.slow
def test_no_fabric_is_left_to_the_words_of_another() -> None:
    data = {"schema_version": 2, "name": "d", "jobs": [{"name": "a", "workload": CHAT, "accelerators": 2}]}
    instance = Instance.parse({**data, "cluster": {"device": "h100-sxm", "fabric": DIVIDED}})
    why = {drawn(planned(name)[0])["why"] for name in FABRICS if name not in CHANNELS}
    why |= {drawn(instance)["why"]}
    assert len(why) == 4
    result = solve(instance, policy="best_fit", options=SolveOptions(workers=1))
    plan = page_data(instance, result, (), command="", versions={}, reasons={})["jobs"][0]["plan"]
    split = result.plan["a"].configuration if result.plan is not None else None
    assert split is not None
    words = rf"{split.memory_units} modules? for each accelerator, over {split.memory_io} of its optical ports"
    assert re.fullmatch(words, plan["memory_text"])


def test_circuits_on_rails_name_the_switches_of_the_rail_of_their_ends() -> None:
    instance, result = planned("ocs_rail")
    of = instance.cluster.fabric
    assert isinstance(of, OcsRail)
    assert result.plan is not None
    raw = [c for a in result.plan.assignments for held in a.circuits for c in held.circuits]
    for circuit, told in zip(raw, _circuits(_data("ocs_rail")), strict=True):
        rail = of.parse_device(circuit.source)[1]
        names = told["cells"][2].split(", ")
        assert [of.parse_switch(name) for name in names] == [(rail, number) for number in circuit.wavelengths]


def test_memory_circuits_and_units_are_listed() -> None:
    instance, result = planned("sipam")
    assert isinstance(instance.cluster.fabric, Sipam)
    assert result.plan is not None
    placed = [job for job in _data("sipam")["jobs"] if job["plan"]]
    assert placed
    for job in placed:
        raw = result.plan[job["name"]].memory
        assert raw
        assert [row[2] for row in job["plan"]["memory"]] == [each.port for each in raw]
        assert [row[3].split(", ") for row in job["plan"]["memory"]] == [list(each.units) for each in raw]


def test_scripts_take_the_names_of_the_fabric() -> None:
    """Only the tables of fibers, which no other fabric has, name wavelengths themselves."""
    named = {path.name for path in SCRIPTS.rglob("*.js") if "wavelength" in path.read_text("utf-8")}
    assert named == {"fibers.js", "wavelengths.js"}


def _page(fabric: str) -> str:
    return report_html(*planned(fabric), (), command="planner solve", versions={})


@pytest.mark.slow
@pytest.mark.chromium
@pytest.mark.parametrize("fabric", ["ocs_rail", "sipam"])
def test_the_page_shows_these_names(fabric: str, tmp_path: Path) -> None:
    dom = dom_of(tmp_path, _page(fabric))
    body = re.sub("<script.*?</script>", "", dom, flags=re.DOTALL)
    assert f"wider line: more {CHANNELS[fabric]}" in body
    assert "wavelength" not in body
    assert "no such path" not in body
    assert ("memory circuits of this job to" in body) is (fabric == "sipam")
    assert ("Trays of s0" in body) is (fabric == "sipam")
    assert "Ports of the optical switches" in body


@pytest.mark.slow
@pytest.mark.chromium
@pytest.mark.parametrize(
    ("fabric", "words"), [("sipac", "Digit 1: the job has"), ("memory_ring", "memory node, between")]
)
def test_a_fabric_has_a_picture_of_its_own(fabric: str, words: str, tmp_path: Path) -> None:
    dom = dom_of(tmp_path, _page(fabric))
    assert words in dom
    assert "fiber" not in re.sub("<(head|svg class=.patterns).*?</(head|svg)>", "", dom, flags=re.DOTALL)


@pytest.mark.slow
@pytest.mark.chromium
def test_a_large_cluster_is_not_cut_off(tmp_path: Path) -> None:
    """1,024 accelerators fit into the width of their card, and hundreds of circuits become few arcs."""
    job = {"name": "wide", "workload": BERT | {"global_batch": 1024}, "accelerators": 1024}
    fabric = FABRICS["lightpath"] | {"servers": 32, "tiles_per_server": 32, "fibers": 4}
    data = {"schema_version": 2, "name": "big", "cluster": {"device": "h100-sxm", "fabric": fabric}, "jobs": [job]}
    instance = Instance.parse(data)
    result = solve(instance, policy="best_fit", options=SolveOptions(workers=1))
    page = re.sub("<meta http-equiv.*?>", "", report_html(instance, result, (), command="", versions={}))
    look = """
      const shown = [...document.querySelectorAll("#floor .rack")].map((rack) => rack.scrollWidth - rack.clientWidth);
      const arcs = document.querySelectorAll("#floor .rack .circuit").length;
      const { plan } = JSON.parse(document.getElementById("data").textContent).jobs.columns;
      const ways = plan.fields.circuits[0][0].circuits[2];
      const held = (ways.steps ?? []).reduce((sum, often, i) => sum + (i % 2) * often, ways.length ?? 0);
      document.documentElement.dataset.shown = JSON.stringify({ shown, arcs, held });
    """
    dom = dom_of(tmp_path, page.replace("</body>", f"<script>{look}</script></body>"))
    found = json.loads(re.search('data-shown="([^"]*)"', dom)[1].replace("&quot;", '"'))  # type: ignore[index]
    assert found["held"] > 500
    assert 0 <= found["arcs"] <= 120
    assert max(found["shown"]) <= 0
