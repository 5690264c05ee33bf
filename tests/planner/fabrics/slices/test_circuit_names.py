"""Circuits of places on slices, found once for all that lie alike, against the planner's own placement of each."""

from random import Random
from typing import Any

import pytest

from planner.fabrics.slices.free_state import SlicedFreeState
from tests.planner.controller.sites import controller, request

FABRICS: dict[str, tuple[str, dict[str, Any]]] = {
    "torus": ("torus", {}),
    "torus in racks": ("torus", {"servers": 2, "racks": 2}),
    "torus without switches": ("torus", {"switches": None}),
    "sipac": ("sipac", {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FABRICS)
def test_ranks_and_circuits_on_slices_are_those_of_the_planner(name: str) -> None:
    """Each place anew on an empty state, on the slices that its devices are."""
    kind, changes = FABRICS[name]
    random, c, seen = Random(name), controller(kind, {"moves": False}, **changes), 0
    fabric = c.cluster.fabric
    for number in range(60):
        if c.running and random.random() < 0.4:
            c.finish(random.choice(list(c.running)))
            continue
        c.submit(request(f"j{number}", random.choice((2, 4, 8) if number % 2 else (1, 2, 4))))
        place = c.running.get(f"j{number}")
        if place is None or not place.row.shape.cut:
            continue
        options, row = place.row.options, place.row.number
        held = fabric.held(options.candidates.row_plans(row), place.devices)  # type: ignore[attr-defined]
        assert held is not None
        expected = SlicedFreeState(c.cluster).assign_on_slices(options, row, held)
        assert place.device_names == expected.devices
        assert place.circuits == expected.circuits
        seen += 1
    assert seen > 10
