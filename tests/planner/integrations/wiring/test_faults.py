"""Faults put into a wiring are found, and nothing else."""

import random
from dataclasses import replace

import pytest

from planner.integrations.wiring.cables import Cable, CableTable
from planner.integrations.wiring.faults import faults_of
from tests.planner.integrations.wiring.wiring_cases import WITH_SWITCHES, fabric_of


@pytest.mark.parametrize("kind", WITH_SWITCHES)
def test_a_new_wiring_has_none(kind: str) -> None:
    fabric = fabric_of(kind)
    table = CableTable.of(fabric, 1.0)
    seen = {(cable.switch, cable.port): cable.end for cable in table.cables}
    assert faults_of(fabric, table, seen, 2.0) == []


@pytest.mark.parametrize("kind", WITH_SWITCHES)
def test_each_fault_is_found_by_its_kind(kind: str) -> None:
    fabric, draw = fabric_of(kind), random.Random(0)
    whole = list(CableTable.of(fabric).cables)
    for _ in range(5):
        cable = draw.choice(whole)
        others = [each for each in whole if each != cable]
        (missing,) = faults_of(fabric, CableTable(tuple(others)))
        assert (missing.kind, missing.where) == ("missing", f"{cable.switch} {cable.end}")
        assert cable.direction in missing.message
        unknown = CableTable((*whole, replace(cable, switch="q99#9")))
        assert [(f.kind, f.where) for f in faults_of(fabric, unknown)] == [("unknown", f"q99#9 {cable.port}")]
        twice = faults_of(fabric, CableTable((*whole, replace(cable, port="999A"))))
        assert [(f.kind, f.where) for f in twice] == [("doubled", f"{cable.switch} {cable.end}")]


def test_one_port_for_two_ends_is_doubled_and_names_the_lines() -> None:
    fabric = fabric_of("ocs_rail")
    cables = [replace(cable, place=f"line {n}") for n, cable in enumerate(CableTable.of(fabric).cables, start=2)]
    cables[2] = replace(cables[2], port=cables[0].port)
    (found,) = faults_of(fabric, CableTable(tuple(cables)))
    assert found.kind == "doubled"
    assert found.message == "line 2 and line 4: port 1A of q0#0 leads to s0.g0 and s1.g0"


def test_swapped_cables_are_told_as_such() -> None:
    fabric = fabric_of("ocs_rail")
    table = CableTable.of(fabric)
    seen = {(cable.switch, cable.port): cable.end for cable in table.cables}
    seen["q0#0", "1A"], seen["q0#0", "2A"] = seen["q0#0", "2A"], seen["q0#0", "1A"]
    found = faults_of(fabric, table, seen)
    assert {fault.where for fault in found} == {"q0#0 1A", "q0#0 2A"}
    assert found[0].message.endswith("should see s0.g0, and sees s1.g0; 1A and 2A are swapped")
    del seen["q0#0", "2A"]
    (alone,) = faults_of(fabric, table, seen)
    assert alone.message.endswith("sees s1.g0, which belongs to 2A")
    assert faults_of(fabric, table, {("q0#0", "999A"): "s1.g0"})[0].kind == "miswired"


def test_a_cable_that_loses_too_much_is_told() -> None:
    fabric = fabric_of("torus")
    cables = list(CableTable.of(fabric, 1.0).cables)
    cables[5] = replace(cables[5], loss_db=4.0)
    assert faults_of(fabric, CableTable(tuple(cables)), most_loss_db=5.0) == []
    (found,) = faults_of(fabric, CableTable(tuple(cables)), most_loss_db=4.5)
    assert (found.kind, found.where) == ("loss", f"{cables[5].switch} {cables[5].port}")
    assert "with the best one on the other side 5 dB" in found.message


def test_a_direction_that_an_end_lacks_is_unknown() -> None:
    fabric = fabric_of("torus")
    first = CableTable.of(fabric).cables[0]
    turned = Cable(first.switch, "99B", "output", first.end)
    (found,) = faults_of(fabric, CableTable((*CableTable.of(fabric).cables, turned)))
    assert found.kind == "unknown"
    assert "has no output for" in found.message
