"""Slots of unhealthy servers are not free."""

import pytest

from planner.fabrics.free_slots import FreeSlots
from planner.model.instance import Instance
from tests.planner.small_racks import rack, serving


def test_slots_of_unhealthy_servers() -> None:
    health = {"failed_tiles": ["s0.t0"], "failed_ports": ["s0.t0", "s0.t3"]}
    slots = FreeSlots(Instance.parse(rack(serving("x", 1), health=health)).cluster)
    assert slots.lit[0] == (1, 2)
    assert slots.free(0, single=True) == (3, 1, 2)
    slots.take([(0, 3), (0, 1)])
    assert slots.free(0, single=True) == slots.free(0, single=False) == (2,)
    with pytest.raises(ValueError, match="server 0 are not free"):
        slots.take([(0, 2), (0, 1)])
    assert slots.lit[0] == (2,)
