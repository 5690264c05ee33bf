"""Rings over servers have fibers of their own."""

import pytest
from hypothesis import given, settings

from planner.slices import RingsOverServers
from tests.planner.slices.allocator_cases import Step, play, steps, taken_sets


@pytest.mark.slow
@pytest.mark.parametrize("fibers", [0, 1, 2, 40])
@given(taken=taken_sets, steps=steps)
@settings(max_examples=80, deadline=None)
def test_rings_have_fibers_of_their_own(fibers: int, taken: int, steps: list[Step]) -> None:
    allocator = RingsOverServers(4, 6, fibers, taken)
    for size, found, before in play(allocator, steps):
        left = allocator.fibers_left
        assert all(0 <= left[a][b] <= fibers for a in range(4) for b in range(4) if a != b)
        if fibers == 40:
            assert (found is None) == (size > before.bit_count())
        rooms = [(before >> 6 * server & 63).bit_count() for server in range(4)]
        if found is None:
            assert max(rooms) < size
            continue
        servers = {server for server in range(4) if found.devices >> 6 * server & 63}
        assert (max(rooms) >= size) == (len(servers) == 1)
        assert found.devices.bit_count() == size
        onward = dict(found.fibers)
        assert len(onward) == len(found.fibers) == (len(servers) if len(servers) > 1 else 0)
        here, seen = min(servers), set()
        for _ in onward:
            here = onward[here]
            seen.add(here)
        assert seen == (servers if onward else set())


def test_fibers_run_out_and_come_back() -> None:
    allocator = RingsOverServers(2, 3, 1)
    first = allocator.allocate(4)
    assert first is not None
    assert sorted(first.fibers) == [(0, 1), (1, 0)]
    allocator.release(first)
    small = allocator.allocate(2), allocator.allocate(2)
    across = allocator.allocate(2)
    assert across is not None
    assert len(across.fibers) == 2
    allocator.release(across)
    assert allocator.fibers_left == [[0, 1], [1, 0]]
    assert None not in small
