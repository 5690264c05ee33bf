"""Floors of a large study are cut to size."""

import pytest

from planner.report.replay import data as data_module
from planner.report.replay import floors
from tests.planner.report.replay.data_cases import made_data


def test_a_large_study_is_cut_to_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_module, "MOST_SERIES", 17)
    monkeypatch.setattr(floors, "MOST_TILES", 32 * 2 * 2 * 2)
    data = made_data()
    assert data["series"]["seeds"] == [0, 1]
    assert (data["snapshots"]["moments"], data["snapshots"]["left_out"]) == ([0.5], 1)
