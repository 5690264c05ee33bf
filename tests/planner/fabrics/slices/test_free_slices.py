"""Slices that each server has free, kept while chips are taken and given back, against a count anew."""

from math import prod
from random import Random

import pytest

from costmodel.fabrics import SlicedFabric
from planner.fabrics.free_slots import masks_by_server
from planner.fabrics.slices import free_slices
from planner.fabrics.slices.free_slices import FreeSlices
from tests.planner.fabrics.slices.clusters import CUBES, job, sliced
from tests.planner.simulate.grounds import cluster

EXTENTS = {"torus": [(1, 1, 2), (1, 2, 2), (2, 2, 2)], "sipac": [(2,), (2, 2), (2, 2, 2)]}


@pytest.mark.parametrize("kind", EXTENTS)
@pytest.mark.parametrize("seed", range(5))
def test_kept_slices_are_those_of_a_count_anew(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In two racks, also where so much has changed meanwhile that all are counted."""
    monkeypatch.setattr(free_slices, "MOST_CHANGES", 4)
    random, of = Random(seed), cluster(kind, servers=2, racks=2)
    fabric = of.fabric
    assert isinstance(fabric, SlicedFabric)
    cuts, free = FreeSlices(of), [set(range(8)) for _ in range(4)]
    for _ in range(60):
        server, slots = random.randrange(4), random.sample(range(8), random.randint(1, 4))
        taken = [(server, slot) for slot in slots if slot in free[server]]
        if random.random() < 0.6:
            cuts.take(masks_by_server(taken))
            free[server].difference_update(slots)
        else:
            cuts.release(masks_by_server((server, slot) for slot in slots if slot not in free[server]))
            free[server].update(slots)
        extent, together = random.choice(EXTENTS[kind]), random.choice((1, 2))
        counted = [_first_fit(fabric, extent, chips) for chips in free]
        assert cuts.parts(extent, together) == [number // together for number in counted]
        assert cuts.by_rack(extent) == [sum(counted[:2]), sum(counted[2:])]
        assert cuts.most_chips(extent) == max(cuts.by_rack(extent)) * prod(extent)


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
    cuts.take({0: 1 << 6})
    assert [each.slots for each in cuts.disjoint(0, (1, 1, 2))] == [(2, 3), (4, 5)]
