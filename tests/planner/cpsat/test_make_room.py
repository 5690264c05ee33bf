"""The fewest ranks move, by CP-SAT."""

import time
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.cpsat.make_room import RoomProblem, make_room, make_room_by


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
