"""Circuits of layouts by number: shared by shapes, and small in memory."""

import gc
import tracemalloc
import weakref
from collections import Counter
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.fabrics import NO_PLAN
from planner.fabrics.demand import Demand
from planner.fabrics.lightpath import fast_layouts
from planner.fabrics.lightpath.fast_layouts import layouts_of
from planner.fabrics.lightpath.layouts import layouts
from tests.planner.fabrics.demand_cases import PEERS, WAVELENGTHS, plans_of, shapes

SHAPES = [*shapes(1, 2, 3, 1), *shapes(2, 1, 4, 2), *shapes(1, 1, 6, 1, 9)]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_orders_are_those_whose_circuits_find_room_counted_one_by_one(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    cuts = data.draw(st.sets(st.integers(1, shape.num_blocks - 1), min_size=1, max_size=3))
    ends = [0, *sorted(cuts), shape.num_blocks]
    counts = tuple(end - begin for begin, end in pairwise(ends))
    width = data.draw(st.integers(0, 12))
    room = [[0 if a == b else data.draw(st.integers(0, width)) for b in range(len(counts))] for a in range(len(counts))]
    expected = []
    for order in layouts(shape, list(enumerate(counts))):
        fits = True
        for _, circuits in shape.configurations:
            crossing = Counter[tuple[int, int]]()
            for source, destination, wavelengths in circuits:
                crossing[order[source // shape.block], order[destination // shape.block]] += wavelengths
            pairs = product(range(len(counts)), repeat=2)
            fits = fits and all(a == b or crossing[a, b] <= room[a][b] for a, b in pairs)
        if fits:
            expected.append(tuple(order))
    assert [*layouts_of(shape).within(counts, room)] == expected


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
    found = layouts_of(shape)
    held = weakref.ref(shape), *(weakref.ref(light) for light in fast_layouts._known.values())
    assert len(held) == 1 + len(shape.configurations)
    del shape, found
    gc.collect()
    assert not any(each() for each in held)
