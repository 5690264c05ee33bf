"""Neighbours move where that makes room: the fewest ranks, and none where it does not help."""

import time
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cpsat.make_room import RoomProblem, make_room, make_room_by
from planner.fabrics.job_class import JobClass
from planner.placement.job_classes import Site
from planner.simulate.fragmentation import paired
from planner.simulate.make_room import rescue
from planner.simulate.placers import PLACERS
from planner.simulate.runs import Run
from tests.planner.simulate.grounds import cluster, ground, state_of


def _fewest_moved(free: list[int], guests: list[tuple[int, int]], part: int, parts: int) -> int | None:
    """By trying every server for every guest (server, ranks)."""
    best: int | None = None
    within = [devices + sum(r for s, r in guests if s == server) for server, devices in enumerate(free)]
    for places in product(range(len(free)), repeat=len(guests)):
        left = list(within)
        for (_, ranks), place in zip(guests, places, strict=True):
            left[place] -= ranks
        if min(left) >= 0 and sum(devices // part for devices in left) >= parts:
            moved = sum(ranks for (server, ranks), place in zip(guests, places, strict=True) if server != place)
            best = moved if best is None else min(best, moved)
    return best


@pytest.mark.slow
@given(
    free=st.lists(st.integers(0, 4), min_size=2, max_size=3),
    guests=st.lists(st.tuples(st.integers(0, 1), st.integers(1, 3)), max_size=5),
    part=st.integers(1, 6),
    parts=st.integers(1, 2),
)
@settings(max_examples=60, deadline=None)
def test_the_fewest_ranks_move(free: list[int], guests: list[tuple[int, int]], part: int, parts: int) -> None:
    counted = tuple(sorted({(s, r, guests.count((s, r))) for s, r in guests}))
    swap = make_room(RoomProblem(tuple(free), counted), part, parts, parts, 100)
    expected = _fewest_moved(free, guests, part, parts)
    soon = make_room_by(time.perf_counter() + 60, RoomProblem(tuple(free), counted), part, parts, parts, 100)
    assert make_room_by(time.perf_counter(), RoomProblem(tuple(free), counted), part, parts, parts, 100) in (None, soon)
    if swap is None:
        assert expected is None
        assert soon is None
        return
    assert sum(ranks * number for (_, ranks, _), number in swap.moves.items()) == expected
    assert soon is not None
    assert sum(ranks * number for (_, ranks, _), number in soon.moves.items()) == expected
    assert sum(swap.parts) == parts
    if expected:
        assert make_room(RoomProblem(tuple(free), counted), part, parts, parts, expected - 1) is None


def _whole(kind: JobClass) -> JobClass:
    """Only rows that take one server; on fibers that are not there every row does."""
    whole = tuple(row for row in kind.rows if row.shape.num_parts == 1)
    return replace(kind, rows=whole) if whole else kind


@pytest.fixture(scope="module", params=["fat_tree", "lightpath"])
def of(request: pytest.FixtureRequest) -> Site:
    changes = {"fibers": 0} if request.param == "lightpath" else {}
    return ground("g", cluster(request.param, servers=2, **changes), [1, 2, 4, 8])


def test_two_jobs_swap_for_a_third(of: Site) -> None:
    """Each of two servers of 8 holds 3 and 3 ranks in vain for a job of 4 in one server."""
    state = state_of(of.cluster)
    placer = PLACERS["best_fit"](state, 0)
    two, four = _whole(of.kinds[0, 2]), _whole(of.kinds[0, 4])
    placed = [placer.place(two) for _ in range(8)]
    runs = [Run(i, two, placement) for i, placement in enumerate(placed) if placement is not None]
    for number in (0, 7):
        state.release(runs[number].placement)
    running = [run for run in runs if run.job not in (0, 7)]
    assert state.lit == [2, 2]
    assert placer.place(four) is None
    found = rescue(state, four, running)
    assert found is not None
    placement, moves = found
    assert len(placement.devices) == 4
    assert len({server for server, _ in placement.devices}) == 1
    assert [len(place.devices) for _, place in moves] == [2]
    held = [*placement.devices, *(d for _, place in moves for d in place.devices)]
    held += [d for run in running if run not in [moved for moved, _ in moves] for d in run.placement.devices]
    assert len(held) == len(set(held)) == 16
    assert state.num_free == 0


def test_nothing_changes_where_no_move_helps(of: Site) -> None:
    state = state_of(of.cluster)
    placer = PLACERS["best_fit"](state, 0)
    placement = placer.place(_whole(of.kinds[0, 8]))
    assert placement is not None
    single = placer.place(of.kinds[0, 1])
    assert single is not None
    before = list(state.lit)
    assert (
        rescue(state, _whole(of.kinds[0, 8]), [Run(0, of.kinds[0, 8], placement), Run(1, of.kinds[0, 1], single)])
        is None
    )
    assert state.lit == before


def test_pairs_are_counted_once() -> None:
    assert paired([3, 3, 2], 4, lambda a, b: True) == 2
    assert paired([3, 3, 2], 4, lambda a, b: False) == 0
    assert paired([5, 1, 0], 4, lambda a, b: True) == 1
