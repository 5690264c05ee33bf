"""Ports of optical switches on a page: as many as a plan joins, by job."""

from pathlib import Path

import pytest

from planner.integrations.wiring.cables import CableTable
from planner.integrations.wiring.cross_connects import cross_connects
from planner.model.result import Result, Status
from planner.report import report_html
from planner.report.port_maps import port_maps
from tests.planner.integrations.wiring.wiring_cases import WITH_SWITCHES, planned
from tests.planner.report.browser import dom_of


@pytest.mark.parametrize("kind", WITH_SWITCHES)
def test_maps_are_the_cross_connects_of_the_plan(kind: str) -> None:
    instance, plan = planned(kind, (16, 16) if kind != "sipam" else (4, 4))
    table = CableTable.of(instance.cluster.fabric)
    found = port_maps(instance, plan, {"j0": 0, "j1": 1}, table.port_of)
    joined = {each["switch"]: {(row["from"], row["to"]) for row in each["joined"]} for each in found}
    wanted = {switch: {*map(tuple, each)} for switch, each in cross_connects(instance, plan, table).items() if each}
    assert joined == wanted
    assert {row["job"] for each in found for row in each["joined"]} == {0, 1}
    assert all(len(each["joined"]) == len(joined[each["switch"]]) for each in found)


@pytest.mark.slow
@pytest.mark.chromium
def test_a_page_with_a_wiring_shows_each_switch(tmp_path: Path) -> None:
    instance, plan = planned("torus")
    result = Result(status=Status.FEASIBLE, policy="best_fit", plan=plan)
    versions = {"photonplan": "0.1.0"}
    ports = CableTable.of(instance.cluster.fabric).port_of
    dom = dom_of(tmp_path, report_html(instance, result, (), command="c", versions=versions, port_of=ports))
    assert dom.count("<details open") >= 12
    row = port_maps(instance, plan, {"j0": 0, "j1": 1}, ports)[0]["joined"][0]
    assert f"{row['from']} → {row['to']}" in dom
    assert "Ports of the optical switches" in dom
    without = dom_of(tmp_path, report_html(instance, result, (), command="c", versions=versions))
    assert row["source"] in without
    assert f"{row['from']} → {row['to']}" not in without
