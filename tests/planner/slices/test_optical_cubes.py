"""Cubes joined by optical switches."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.slices import OpticalCubes
from planner.slices.allocator import members
from planner.slices.optical_cubes import next_cubes
from planner.slices.torus_boxes import most_cubic
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


@pytest.mark.slow
@given(st.sets(st.integers(0, 63), min_size=1, max_size=40), st.integers(1, 39))
def test_cubes_of_disjoint_slices_never_share_a_circuit(cubes: set[int], cut: int) -> None:
    chosen = sorted(cubes)
    parts = [part for part in (chosen[:cut], chosen[cut:]) if part]
    for axis in range(3):
        circuits = [pair for part in parts for pair in next_cubes(part)[axis].items()]
        assert len({a for a, _ in circuits}) == len({b for _, b in circuits}) == len(chosen)
    alone = next_cubes([5])
    assert alone == ({5: 5}, {5: 5}, {5: 5})
    sides = most_cubic(len(chosen))
    for axis, onward in enumerate(next_cubes(chosen)):
        here = onward[chosen[0]]
        length = 1
        while here != chosen[0]:
            here, length = onward[here], length + 1
        assert length == sides[axis]
