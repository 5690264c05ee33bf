"""Servers filled by flow: against bin packing by hand."""

from collections import Counter

import pytest
from ortools.sat.python import cp_model

from planner.cpsat.divisions.arc_flow import ArcFlow
from planner.formulation.solver import new_solver


def flow_of(rooms: Counter[int], parts: Counter[int]) -> tuple[cp_model.CpModel, ArcFlow]:
    cp = cp_model.CpModel()
    servers = [rooms[room] for room in range(max(rooms) + 1)]
    return cp, ArcFlow(cp, {ranks: [number] for ranks, number in parts.items()}, servers, rooms.total())


@pytest.mark.parametrize(
    ("rooms", "parts", "fits"),
    [
        ([4, 4], [3, 3, 1, 1], True),
        ([4, 4], [3, 3, 2], False),
        ([5, 3, 0], [3, 3, 2], True),
        ([5, 3, 0], [4, 4], False),
    ],
)
def test_parts_flow_where_they_fit(rooms: list[int], parts: list[int], fits: bool) -> None:
    cp, flow = flow_of(Counter(rooms), Counter(parts))
    solver = new_solver()
    assert (solver.solve(cp) == cp_model.OPTIMAL) == fits
    if fits:
        fillings = list(flow.fillings(solver.value))
        assert Counter(filling.room for filling in fillings) == Counter(rooms)
        assert all(sum(filling.parts) <= filling.room for filling in fillings)
        filled = Counter(ranks for filling in fillings for ranks in filling.parts)
        assert all(filled[ranks] >= number for ranks, number in Counter(parts).items())
