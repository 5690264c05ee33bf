"""Slices that each server has free, kept while chips are taken and given back, against a count anew."""

from random import Random

import pytest

from costmodel.fabrics import SlicedFabric
from planner.fabrics.slices.free_slices import FreeSlices
from tests.planner.fabrics.slices.clusters import CUBES, job, sliced
from tests.planner.simulate.grounds import cluster

EXTENTS = {"torus": [(1, 1, 2), (1, 2, 2), (2, 2, 2)], "sipac": [(2,), (2, 2), (2, 2, 2)]}


@pytest.mark.parametrize("kind", EXTENTS)
@pytest.mark.parametrize("seed", range(5))
def test_kept_slices_are_those_of_a_count_anew(kind: str, seed: int) -> None:
    random, of = Random(seed), cluster(kind)
    fabric = of.fabric
    assert isinstance(fabric, SlicedFabric)
    cuts, free = FreeSlices(of), [set(range(8)) for _ in range(4)]
    for _ in range(60):
        server, slots = random.randrange(4), random.sample(range(8), random.randint(1, 4))
        taken = [(server, slot) for slot in slots if slot in free[server]]
        if random.random() < 0.6:
            cuts.take(taken)
            free[server].difference_update(slots)
        else:
            cuts.release([(server, slot) for slot in slots if slot not in free[server]])
            free[server].update(slots)
        extent, together = random.choice(EXTENTS[kind]), random.choice((1, 2))
        assert cuts.parts(extent, together) == [_first_fit(fabric, extent, chips) // together for chips in free]


def _first_fit(fabric: SlicedFabric, extent: tuple[int, ...], free: set[int]) -> int:
    left, number = set(free), 0
    for each in fabric.slices(extent):
        if left.issuperset(each.slots):
            left.difference_update(each.slots)
            number += 1
    return number


def test_first_fit_and_usable_slices() -> None:
    instance = sliced(CUBES, job("j", 2), health={"failed_tiles": ["s0.c0"], "failed_switches": ["x3"]})
    cuts = FreeSlices(instance.cluster)
    assert [each.slots for each in cuts.usable(0, (2, 1, 1))] == [(1, 5), (2, 6)]
    assert [each.slots for each in cuts.usable(1, (2, 1, 1))] == [(0, 4), (1, 5), (2, 6)]
    assert cuts.usable(1, (2, 2, 2)) == []
    assert [each.slots for each in cuts.disjoint(0, (1, 2, 2))] == [(4, 5, 6, 7)]
    cuts.take([(0, 6)])
    assert [each.slots for each in cuts.disjoint(0, (1, 1, 2))] == [(2, 3), (4, 5)]
