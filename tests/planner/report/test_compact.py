"""A plan's page holds accelerators by number and circuits by their ways."""

import pytest

from planner.report.compact import compact
from tests.planner.report import rack
from tests.planner.report.data_cases import made_data


def test_circuits_have_numbers_of_their_ends_and_ways() -> None:
    data = compact(rack.instance().cluster, made_data(rack.result()))
    plan = data["jobs"]["columns"]["plan"]["fields"]
    assert plan["devices"] == [[0, 2, 4, 2], [6, 1]]
    (held,) = plan["circuits"][0]
    assert held["circuits"] == [[0, 1, 4, 5], [1, 4, 5, 0], [0, 1, 0, 2]]
    assert data["ways"]["columns"]["sign"] == ["→", "→", "→"]


def test_pairs_of_servers_are_told_where_they_differ_from_most() -> None:
    matrices = compact(rack.instance().cluster, made_data(rack.result()))["matrices"]
    assert matrices["usual"]["used"] == 8
    assert matrices["pairs"]["count"] == 1
    assert (matrices["pairs"]["columns"]["from"], matrices["pairs"]["columns"]["to"]) == ([1], [0])


@pytest.mark.parametrize("device", ["s0.t1", "u7"])
def test_memory_circuits_are_told_by_what_follows_the_name_of_their_tray(device: str) -> None:
    data = made_data(rack.result())
    data["jobs"][0]["plan"]["memory"] = [[device, "3", "s0.m2.q3#1", "s0.m2.u4, s0.m2.u5, s0.m2.u9", "all"]]
    memory = compact(rack.instance().cluster, data)["memory"]
    end = 1 if device == "s0.t1" else device
    told = {"job": 0, "device": end, "rail": "3", "tray": "s0.m2", "port": "q3#1", "units": [4, 2, 9, 1]}
    assert memory == {"count": 1, "columns": {name: [value] for name, value in (told | {"phase": "all"}).items()}}
