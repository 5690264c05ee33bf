"""Shared by the tests of `instance`, `job`, `residents`, `residents` and `texts`."""

from typing import Any

from planner.model.instance import Instance
from tests.planner.fabrics.lightpath.constraints_cases import ring_resident
from tests.planner.small_racks import Fields


def parse(data: Fields) -> Instance:
    return Instance.parse(data, "file")


def edited_ring(**changes: Any) -> Fields:
    """The ring resident, its first circuit changed."""
    resident = ring_resident()
    circuits = resident["circuits"][0]["circuits"]
    resident["circuits"] = [{"dimension": "tensor", "circuits": [circuits[0] | changes, circuits[1]]}]
    return resident
