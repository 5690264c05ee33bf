"""Slices never overlap, have the shapes of their system, and are refused only where no shape fits."""

from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.slices import AnyChip, DigitSubcubes, OpticalCubes, RingsOverServers, TorusBoxes, WholeServers
from planner.slices.allocator import FirstFree, MaskAllocator, all_ones, lowest, members, repeated
from tests.oracles.slices import boxes_of
from tests.planner.slices.allocator_cases import Step, play, small_steps, steps, taken_sets

MAKERS: dict[str, Callable[[], MaskAllocator]] = {
    "any": lambda: AnyChip(24),
    "torus": lambda: TorusBoxes((2, 3, 4)),
    "mesh": lambda: TorusBoxes((2, 3, 4), wrap=False),
    "cubes": lambda: OpticalCubes(4, 2),
    "bcube": lambda: DigitSubcubes(2, 5),
    "bcube, far": lambda: DigitSubcubes(2, 5, order="far"),
    "sipac": lambda: DigitSubcubes(3, 3),
    "servers": lambda: WholeServers(4, 6),
    "rings": lambda: RingsOverServers(4, 6, 1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
@given(steps=steps)
@settings(max_examples=40, deadline=None)
def test_slices_are_free_large_enough_and_released_whole(name: str, steps: list[Step]) -> None:
    allocator = MAKERS[name]()
    empty = allocator.free
    running = 0
    for size, found, before in play(allocator, [step for step in steps if step[0]]):
        if found is None:
            assert allocator.free == before
            continue
        assert found.devices & before == found.devices
        assert found.devices & running == 0
        assert found.devices.bit_count() >= size
        running |= found.devices
        assert allocator.free == empty ^ running


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
@given(sizes=st.lists(st.integers(1, 40), max_size=20), order=st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_releases_restore_everything(name: str, sizes: list[int], order: Random) -> None:
    allocator = MAKERS[name]()
    empty = allocator.free
    first = [allocator.allocate(size) for size in sizes]
    slices = [found for found in first if found is not None]
    order.shuffle(slices)
    for found in slices:
        allocator.release(found)
    assert allocator.free == empty
    assert [allocator.allocate(size) for size in sizes] == first


@pytest.mark.slow
@pytest.mark.parametrize("sides", [(2, 3, 4), (3, 3, 1), (1, 1, 7), (4, 2, 2)])
@pytest.mark.parametrize("wrap", [True, False])
@given(taken=taken_sets, steps=small_steps)
@settings(max_examples=80, deadline=None)
def test_boxes_are_given_where_one_is_free(
    sides: tuple[int, int, int], wrap: bool, taken: int, steps: list[Step]
) -> None:
    for size, found, before in play(TorusBoxes(sides, taken, wrap=wrap), steps):
        free = frozenset(members(before))
        legal = {box for box in boxes_of(sides, size, wrap=wrap) if box <= free}
        assert (found is None) == (not legal)
        assert found is None or frozenset(members(found.devices)) in legal


@pytest.mark.slow
@given(taken=taken_sets, steps=steps)
@settings(max_examples=100, deadline=None)
def test_any_chip_refuses_only_what_does_not_fit(taken: int, steps: list[Step]) -> None:
    for size, found, before in play(AnyChip(24, taken), steps):
        assert (found is None) == (size > before.bit_count())
        assert found is None or found.devices == lowest(before, size)


def test_taken_accelerators_are_never_given() -> None:
    taken = 0b1011
    for allocator in (AnyChip(8, taken), TorusBoxes((2, 2, 2), taken), DigitSubcubes(2, 3, taken)):
        given_out = 0
        while (found := allocator.allocate(1)) is not None:
            given_out |= found.devices
        assert given_out == all_ones(8) ^ taken


def test_what_is_known_of_a_slice_is_what_a_new_search_finds() -> None:
    random = Random(3)
    for allocator in (TorusBoxes((2, 3, 4)), TorusBoxes((2, 3, 4), wrap=False), DigitSubcubes(2, 5)):
        assert isinstance(allocator, FirstFree)
        for _ in range(300):
            size, bits = random.choice((1, 2, 3, 4, 8)), random.getrandbits(allocator.capacity)
            more = random.getrandbits(allocator.capacity) & all_ones(allocator.capacity)
            allocator.free = random.choice((allocator.free & bits, allocator.free | (bits & more), allocator.free))
            assert allocator.fit(size) == allocator.fit_in(allocator.free, size)


def test_so_many_of_each_period() -> None:
    assert repeated(2, 3, 9) == 0b011011011
    assert repeated(3, 3, 6) == 0b111111
    assert repeated(0, 2, 4) == 0
