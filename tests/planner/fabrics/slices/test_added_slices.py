"""Slices beside the ranks of a running job, against all sequences of free chips."""

from itertools import permutations
from random import Random

import pytest

from costmodel.fabrics import SlicedFabric
from planner.fabrics.free_slots import masks_by_server
from planner.fabrics.slices.added_slices import grown_on_slices
from planner.fabrics.slices.free_slices import FreeSlices
from tests.planner.controller.sites import chat, controller, remember_kinds, request

remember_kinds()


@pytest.mark.parametrize("fabric", ["torus", "sipac"])
@pytest.mark.parametrize("seed", range(4))
def test_they_are_found_exactly_where_there_are_some(fabric: str, seed: int) -> None:
    """Ranks that run lie anywhere, as a slice or not; of eight chips of a server some are free."""
    random, c = Random(seed), controller(fabric, servers=1)
    slices, kinds, found_any = FreeSlices(c.cluster), c._durable.kinds, set[bool]()
    of = c.cluster.fabric
    assert isinstance(of, SlicedFabric)
    for number, size in ((1, 2), (1, 4), (2, 4), (4, 8)):
        for row in kinds[kinds.expand(random.choice((request, chat))("it", size))].rows:
            if not row.shape.cut:
                continue
            plans, chips = row.options.candidates.row_plans(row.number), random.sample(range(8), 8)
            if random.random() < 0.7:
                first = random.choice(of.slices(row.shape.cut)).slots
                chips = [*first, *(chip for chip in chips if chip not in first)]
            held, taken = [(0, chip) for chip in chips[:number]], [(0, chip) for chip in chips[max(size, 6) :]]
            slices.take(masks_by_server(taken))
            ways = [*grown_on_slices(slices, row.shape, plans, held, [0])]
            free = [(0, chip) for chip in chips[number : max(size, 6)]]
            expected = [
                [*held, *more]
                for more in permutations(free, size - number)
                if of.held(plans, [*held, *more]) is not None
            ]
            slices.release(masks_by_server(taken))
            assert all(way in expected for way in ways)
            assert bool(ways) == bool(expected)
            found_any.add(bool(ways))
    assert found_any == {False, True}
