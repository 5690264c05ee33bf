"""Slices never overlap, have the shapes of their system, and are refused only where no shape fits."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.slices import AnyChip, DigitSubcubes, OpticalCubes, RingsOverServers, Slice, TorusBoxes, WholeServers
from planner.slices.allocator import MaskAllocator, all_ones, lowest, members
from planner.slices.optical_cubes import next_cubes
from planner.slices.torus_boxes import boxes, most_cubic
from tests.oracles.slices import boxes_of, subcubes_of

Step = tuple[bool, int]
"""(whether a slice is asked for, size of it or which of the running ones to release)"""


def _taken(random: Random) -> int:
    share = random.random()
    return sum(1 << i for i in range(64) if random.random() < share)


steps = st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=40)
small_steps = st.lists(st.tuples(st.booleans(), st.integers(1, 9)), min_size=1, max_size=8)
taken_sets = st.randoms(use_true_random=False).map(_taken)
"""few or many of 64 accelerators, anywhere"""
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


def play(allocator: MaskAllocator, steps: Sequence[Step]) -> Iterator[tuple[int, Slice | None, int]]:
    """(size, slice or None, what was free before) of each request, while some slices are released."""
    running: list[Slice] = []
    for asks, number in steps:
        if asks:
            before = allocator.free
            found = allocator.allocate(number)
            yield number, found, before
            if found is not None:
                running.append(found)
        elif running:
            allocator.release(running.pop(number % len(running)))


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
@pytest.mark.parametrize(("radix", "digits"), [(2, 4), (3, 2), (3, 3), (4, 2)])
@pytest.mark.parametrize("order", ["near", "far"])
@given(taken=taken_sets, steps=small_steps)
@settings(max_examples=80, deadline=None)
def test_subcubes_are_given_where_one_is_free(
    radix: int, digits: int, order: str, taken: int, steps: list[Step]
) -> None:
    allocator = DigitSubcubes(radix, digits, taken, order="far" if order == "far" else "near")
    for size, found, before in play(allocator, steps):
        free = frozenset(members(before))
        legal = {cube for cube in subcubes_of(radix, digits, size) if cube <= free}
        assert (found is None) == (not legal)
        assert found is None or frozenset(members(found.devices)) in legal


@pytest.mark.slow
@given(taken=taken_sets, steps=steps)
@settings(max_examples=100, deadline=None)
def test_any_chip_refuses_only_what_does_not_fit(taken: int, steps: list[Step]) -> None:
    for size, found, before in play(AnyChip(24, taken), steps):
        assert (found is None) == (size > before.bit_count())
        assert found is None or found.devices == lowest(before, size)


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


def test_taken_accelerators_are_never_given() -> None:
    taken = 0b1011
    for allocator in (AnyChip(8, taken), TorusBoxes((2, 2, 2), taken), DigitSubcubes(2, 3, taken)):
        given_out = 0
        while (found := allocator.allocate(1)) is not None:
            given_out |= found.devices
        assert given_out == all_ones(8) ^ taken


def test_compact_boxes_come_first() -> None:
    assert boxes((4, 4, 4), 8)[0] == (2, 2, 2)
    assert boxes((4, 4, 4), 5) == boxes((4, 4, 4), 6)
    assert boxes((4, 4, 4), 65) == ()
    assert [most_cubic(volume) for volume in (64, 256, 7, 12)] == [(4, 4, 4), (4, 8, 8), (1, 1, 7), (2, 2, 3)]


def test_order_of_digits() -> None:
    near, far = DigitSubcubes(2, 3), DigitSubcubes(2, 3, order="far")
    pairs = [allocator.allocate(2) for allocator in (near, far)]
    assert [found and found.devices for found in pairs] == [0b11, 0b10001]


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
