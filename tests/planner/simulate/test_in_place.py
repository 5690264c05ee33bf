"""A repair in place changes what failed and nothing else, wherever the fabric has room."""

import pytest

from planner.fabrics.free_state import FreeState
from planner.model.edit import edited
from planner.simulate.in_place import blocks_of, hit_servers, keep_others, swap_servers
from planner.simulate.placers import PLACERS
from planner.whatif.failures import parse_failure, worsened
from tests.planner.simulate.fault_cases import site

SPREADING = ["fat_tree", "lightpath", "torus", "memory_ring"]


@pytest.mark.parametrize("fabric", SPREADING)
def test_the_other_server_is_kept(fabric: str) -> None:
    """A job fills two servers; the first fails, and either way another whole one takes its place."""
    of = site(fabric, 4, [16])
    old = PLACERS["first_fit"](FreeState.empty(of.cluster), 0).place(of.kinds[0, 16])
    assert old is not None
    assert list(blocks_of(old)) == [0, 1]
    names = [of.cluster.fabric.device_name(0, slot) for slot in range(8)]
    health = worsened(of.cluster.health, [parse_failure(of.cluster, name) for name in names])
    for number in range(2):
        state = FreeState.empty(edited(of.cluster, health=health))
        assert hit_servers(state, old) == {0}
        found = swap_servers(state, old, {0: 3}) if number else keep_others(state, old)
        assert found is not None
        assert not state.broken(found)
        assert {device for device in found.devices if device[0] == 1} == {d for d in old.devices if d[0] == 1}
        assert {server for server, _ in found.devices} == {1, 3 if number else 2}
        assert state.num_free == 24 - 16
