"""Floors of a large study are cut to size."""

import json

import pytest

from planner.report.replay import data as data_module
from planner.report.replay import floors
from tests.planner.report.replay.data_cases import made_data


def test_a_large_study_is_cut_to_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_module, "MOST_SERIES", 17)
    moments = [json.dumps(each, separators=(",", ":")) for cell in made_data()["snapshots"]["at"] for row in cell
               for each in row[:1]]  # fmt: skip
    monkeypatch.setattr(floors, "MOST_BYTES", sum(map(len, moments)) + 100)
    data = made_data()
    assert data["series"]["seeds"] == [0, 1]
    assert (data["snapshots"]["moments"], data["snapshots"]["left_out"]) == ([0.5], 1)
