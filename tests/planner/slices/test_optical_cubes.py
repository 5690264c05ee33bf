"""Cubes joined by optical switches."""

import pytest
from hypothesis import given, settings

from planner.slices import OpticalCubes
from planner.slices.allocator import members
from tests.oracles.slices import boxes_of
from tests.planner.slices.allocator_cases import Step, play, steps, taken_sets


@pytest.mark.slow
@given(taken=taken_sets, steps=steps)
@settings(max_examples=100, deadline=None)
def test_cubes_are_whole_or_hold_the_box(taken: int, steps: list[Step]) -> None:
    for size, found, before in play(OpticalCubes(4, 2, taken), steps):
        free = [before >> 8 * cube & 255 for cube in range(4)]
        if size < 8:
            grids = [
                {box for box in boxes_of((2, 2, 2), size, wrap=False) if box <= frozenset(members(f))} for f in free
            ]
            assert (found is None) == (not any(grids))
            if found is not None:
                [(cube, inside)] = [(c, found.devices >> 8 * c & 255) for c in range(4) if found.devices >> 8 * c & 255]
                assert frozenset(members(inside)) in grids[cube]
                assert free[cube].bit_count() == min(
                    f.bit_count() for f, legal in zip(free, grids, strict=True) if legal
                )
            continue
        count = -(-size // 8)
        assert (found is None) == (free.count(255) < count)
        if found is not None:
            given_out = [found.devices >> 8 * cube & 255 for cube in range(4)]
            assert sorted(given_out, reverse=True)[:count] == [255] * count
            assert sum(given_out) == 255 * count
