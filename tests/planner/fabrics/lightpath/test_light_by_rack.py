"""Where jobs are placed on racks of which much is remembered, against a look at every row anew."""

from functools import lru_cache
from random import Random

import pytest

from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass
from planner.fabrics.placement import Placement
from planner.fabrics.search import MAX_FAILED, Search, Strategy
from planner.heuristics.strategies import aligned, in_order, tightest
from planner.placement.job_classes import Site
from planner.simulate.placers import StrategyPlacer
from tests.planner.simulate.grounds import cluster, come_and_go, ground, mix, state_of

SIZES = [2, 4, 8]


@lru_cache(maxsize=1)
def _site() -> Site:
    """Three racks with little light."""
    return ground("g", cluster("lightpath", racks=3, wavelengths_per_fiber=1), SIZES, mix(chat=False))


@pytest.mark.parametrize("strategy", [in_order, tightest, aligned])
def test_a_place_is_that_of_a_look_at_every_row(strategy: Strategy) -> None:
    """Jobs come and go; what is given back for a moment changes nothing."""
    site, random, search, outcomes = _site(), Random(3), Search(strategy), set[bool]()
    state = state_of(site.cluster)
    for running in come_and_go(state, StrategyPlacer(state, strategy), site, SIZES, random, 60, 0.7):
        hidden = random.choice(running) if running else None
        for is_free in (False, True, False):
            if is_free and hidden is not None:
                state.release(hidden)
            kind = site.kinds[0, random.choice(SIZES)]
            found, plain = state.found(kind, search), _plain_place(state, kind, search)
            assert (found and (found.row, found.devices)) == (plain and (plain.row, plain.devices))
            outcomes.add(found is None)
            if is_free and hidden is not None:
                state.take(hidden)
    assert outcomes == {True, False}


def _plain_place(state: FreeState, kind: JobClass, search: Search) -> Placement | None:
    """Row by row, rack by rack; after so many failures the first row of each size of parts in one server."""
    num_failed, seen = 0, set[int]()
    for row in kind.rows if kind.held <= state.num_free else ():
        for blocks in state.spreads(row.shape, search) if num_failed < MAX_FAILED else ():
            found = state.realize(row, blocks) if state.may_span(row.shape, blocks) else None
            if found is not None:
                return found
            num_failed += state.may_span(row.shape, blocks)
            if num_failed == MAX_FAILED:
                break
    for row in kind.rows if num_failed == MAX_FAILED else ():
        inside = [blocks for blocks in state.spreads(row.shape, search) if len(blocks) == 1 and row.part not in seen]
        seen.add(row.part)
        found = next((found for blocks in inside if (found := state.realize(row, blocks))), None)
        if found is not None:
            return found
    return None
