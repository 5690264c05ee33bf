"""Servers are whole but for one."""

from collections import Counter

import pytest
from hypothesis import given, settings

from planner.slices import WholeServers
from tests.planner.slices.allocator_cases import Step, play, steps, taken_sets


@pytest.mark.slow
@given(taken=taken_sets, steps=steps)
@settings(max_examples=100, deadline=None)
def test_servers_are_whole_but_for_one(taken: int, steps: list[Step]) -> None:
    for size, found, before in play(WholeServers(4, 6, taken), steps):
        rooms = [(before >> 6 * server & 63).bit_count() for server in range(4)]
        count, rest = divmod(size, 6)
        others = sorted(rooms)[: 4 - count]
        fits = rooms.count(6) >= count and (not rest or any(room >= rest for room in others))
        assert (found is not None) == fits
        if found is not None:
            given_out = [(found.devices >> 6 * server & 63).bit_count() for server in range(4)]
            assert Counter(count for count in given_out if count) == Counter([6] * count + [rest] * (rest > 0))
