"""Parts of pooled racks by number: what is placed is what lists give, and breaks with what it holds."""

from random import Random

import pytest

from planner.fabrics.placement import Placement
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.model.cluster import Cluster
from planner.simulate.placers import PLACERS
from tests.planner.fabrics.sipam.slow_pool import SlowPool
from tests.planner.simulate.grounds import FABRICS, ground
from tests.planner.simulate.outages_cases import spanning, with_failed

SIZES = [1, 2, 4, 8, 16]
HEALTHS: tuple[dict[str, list[str]], ...] = (
    {},
    {"failed_tiles": ["s1.a2"], "failed_memory_units": ["s0.m0.u3"], "failed_switches": ["s2.q1", "q9"]},
    {"failed_tray_ports": ["s0.m0.q0#0"], "failed_uplinks": ["s0.q8#0"], "failed_switches": ["s1.q8"]},
)


def test_a_job_is_broken_where_it_holds_a_failed_memory_unit() -> None:
    _, placement = spanning("sipam", 2)
    assert placement.owned is not None
    held = dict(placement.owned.masks)
    for unit in range(24):
        state = with_failed("sipam", f"s0.m0.u{unit}")
        assert isinstance(state, PoolFreeState)
        bit = state.parts.bits.field("unit", tray=0).first + unit
        assert state.broken(placement) == bool(held.get(0, 0) >> bit & 1)
    assert any(mask & state.parts.bits.units for mask in held.values())


@pytest.mark.parametrize("policy", ["first_fit", "best_fit", "sipam_loop", "server_aligned", "random_fit"])
@pytest.mark.parametrize("number", range(len(HEALTHS)))
def test_jobs_are_placed_event_by_event_as_by_lists(policy: str, number: int) -> None:
    """Jobs come, go, and are tried and given back at once, as a replay looks ahead."""
    of = Cluster.model_validate({"device": "h100-sxm", "fabric": FABRICS["sipam"], "health": HEALTHS[number]})
    kinds, random = [*ground("g", of, SIZES).kinds.values()], Random(number)
    quick, slow = PoolFreeState(of), SlowPool(of)
    placers = [PLACERS[policy](state, 7) for state in (quick, slow)]
    running = list[Placement]()
    for _ in range(150):
        if random.random() < 0.4 and running:
            for state, placement in zip((quick, slow), [running.pop(random.randrange(len(running)))] * 2, strict=True):
                state.release(placement)
        else:
            kind, stays = random.choice(kinds), random.random() < 0.6
            found, expected = (placer.place(kind) for placer in placers)
            assert found == expected
            if found is not None and stays:
                running.append(found)
            elif found is not None:
                quick.release(found)
                slow.release(found)
        shape = random.choice(random.choice(kinds).rows).shape
        assert (quick.room(shape), quick.free, quick.lit) == (slow.room(shape), slow.free, slow.lit)
        lists = dict(enumerate(map(slow.bits.free_of, slow.lists.racks)))
        assert dict(enumerate(map(quick.parts.bits.free_of, quick.pool.racks))) == lists
