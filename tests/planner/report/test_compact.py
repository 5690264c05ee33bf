"""A plan's page holds accelerators by number and circuits by their ways."""

from planner.report.compact import compact
from tests.planner.report import rack
from tests.planner.report.data_cases import made_data


def test_circuits_have_numbers_of_their_ends_and_ways() -> None:
    data = compact(rack.instance().cluster, made_data(rack.result()))
    plan = data["jobs"]["columns"]["plan"]["fields"]
    assert plan["devices"] == [[0, 2, 4, 2], [6, 1]]
    (held,) = plan["circuits"][0]
    assert held["circuits"] == [[0, 1, 4, 5], [1, 4, 5, 0], [0, 1, 0, 2]]
    assert data["ways"]["columns"]["sign"] == {"of": ["→"], "at": [0, 0, 0]}


def test_pairs_of_servers_are_told_where_they_differ_from_most() -> None:
    matrices = compact(rack.instance().cluster, made_data(rack.result()))["matrices"]
    assert matrices["usual"]["used"] == 8
    assert matrices["pairs"]["count"] == 1
    assert (matrices["pairs"]["columns"]["from"], matrices["pairs"]["columns"]["to"]) == ([1], [0])
