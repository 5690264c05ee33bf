"""Jobs placed over racks by number: what is found is the best of all choices, and what is given back is free again."""

from random import Random
from typing import Any

import pytest

from planner.fabrics.free_state import FreeState
from planner.fabrics.placement import Placement
from planner.fabrics.search import Search
from planner.heuristics.strategies import tightest
from planner.model.cluster import Cluster
from planner.placement.job_classes import Site
from tests.planner.fabrics.joined_racks.fits import rows_that_fit
from tests.planner.fabrics.joined_racks.racks import FABRIC, FIBERS, KINDS, PACKETS, SWITCHES
from tests.planner.simulate.grounds import ground, mix

TILES, SIZES = 4, [1, 2, 3, 4, 6, 8, 12]
LAYERS: dict[str, dict[str, Any]] = {
    "packets": PACKETS, "switches": SWITCHES | {"ports": 3}, "two switches": SWITCHES | {"ports": 4}, "fibers": FIBERS,
}  # fmt: skip


def _site(upper: dict[str, Any]) -> Site:
    fabric = FABRIC | {"servers": 1, "tiles_per_server": TILES, "upper": upper}
    return ground("g", Cluster.model_validate({"device": "h100-sxm", "fabric": fabric}), SIZES, mix(chat=False))


@pytest.mark.parametrize("name", LAYERS)
def test_the_most_valuable_row_that_fits_is_placed(name: str) -> None:
    upper = LAYERS[name]
    of, random, running, full = _site(upper), Random(name), list[Placement](), 0
    state = FreeState.empty(of.cluster)
    for _ in range(120):
        kind = of.kinds[0, random.choice([size for size in SIZES if of.kinds[0, size].rows])]
        fitting = rows_that_fit(kind, upper, TILES, running)
        placement = state.place(kind, Search(tightest))
        assert (placement is None) == (not fitting)
        if placement is not None:
            assert placement.row.rate == pytest.approx(kind.rows[fitting[0]].rate)
            running.append(placement)
        full += placement is None and kind.held <= state.num_free
        for _ in range(random.choice((0, 1, 1, 2))) if placement is None or random.random() < 0.3 else ():
            if running:
                state.release(running.pop(random.randrange(len(running))))
    assert full > 3, "jobs that lacked links, or equal parts, alone"
    for placement in running:
        state.release(placement)
    fresh = FreeState.empty(of.cluster)
    assert state.links is not None
    assert fresh.links is not None
    assert (state.links.free, state.links.taken) == (fresh.links.free, {})
    assert state.free == fresh.free


def test_a_job_that_fits_in_a_rack_lies_in_one() -> None:
    for upper in KINDS.values():
        of = _site(upper)
        placement = FreeState.empty(of.cluster).place(of.kinds[0, 4], Search(tightest))
        assert placement is not None
        assert placement.links is None


def test_a_failed_switch_or_fiber_takes_what_goes_over_it() -> None:
    for name, part in (("two switches", "u0"), ("fibers", "r0>r1#0")):
        of = _site(LAYERS[name])
        placement = FreeState.empty(of.cluster).place(of.kinds[0, 8], Search(tightest))
        assert placement is not None
        assert placement.links is not None
        over = {circuit.over for circuit in placement.links.circuits}
        health = of.cluster.health.model_copy(update={"failed_upper": (part,)})
        failed = of.cluster.model_validate(of.cluster.model_dump(by_alias=True) | {"health": health.model_dump()})
        assert FreeState.empty(failed).broken(placement) == (part in over)
        again = FreeState.empty(failed).place(of.kinds[0, 8], Search(tightest))
        assert again is not None
        assert again.links is not None
        assert part not in {circuit.over for circuit in again.links.circuits}
