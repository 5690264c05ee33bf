"""Circuits of layouts by number: shared by shapes, and small in memory."""

import gc
import tracemalloc
import weakref

import pytest

from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.fabrics import NO_PLAN
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath import fast_layouts
from planner.fabrics.lightpath.fast_layouts import layouts_of
from tests.planner.fabrics.demand_cases import PEERS, WAVELENGTHS, plans_of


@pytest.mark.slow
def test_light_of_many_ranks_takes_memory_by_circuits_not_by_pairs() -> None:
    """A ring of 1,024: a million pairs of ranks, a thousand circuits; many shapes of one plan share them."""
    ring = CollectivePlan("all_reduce", "ring", 1024, Limits(WAVELENGTHS, PEERS, 1e-6, 1e-5, 1e9), (), (1,), (4,))
    gc.collect()
    tracemalloc.start()
    try:
        kept = [Demand(1, 1, 1024, block, (NO_PLAN, NO_PLAN, ring)) for block in (1, 2, 4, 8)]
        for shape in kept:
            assert len(shape.boundary) == shape.num_blocks + 1
            assert len(shape.offsets[0]) == len(shape.configurations[0][1]) == 1024
            assert shape.between_blocks[0].pairs.shape == (3, shape.num_blocks)
            assert layouts_of(shape)
        assert tracemalloc.get_traced_memory()[0] < 1e6
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_what_shapes_share_goes_with_the_last_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast_layouts, "_known", weakref.WeakValueDictionary())  # an equal shape may live elsewhere
    shape = Demand(1, 1, 24, 1, (NO_PLAN, NO_PLAN, plans_of(24)[0]))
    assert shape.has_light
    held = weakref.ref(shape), weakref.ref(layouts_of(shape))
    del shape
    gc.collect()
    assert [each() for each in held] == [None, None]
