"""Shared by the tests of the allocators of slices."""

from collections.abc import Iterator, Sequence
from random import Random

from hypothesis import strategies as st

from planner.slices import Slice
from planner.slices.allocator import MaskAllocator

Step = tuple[bool, int]
"""(whether a slice is asked for, size of it or which of the running ones to release)"""


def made_taken(random: Random) -> int:
    share = random.random()
    return sum(1 << i for i in range(64) if random.random() < share)


steps = st.lists(st.tuples(st.booleans(), st.integers(1, 40)), max_size=40)
small_steps = st.lists(st.tuples(st.booleans(), st.integers(1, 9)), min_size=1, max_size=8)
taken_sets = st.randoms(use_true_random=False).map(made_taken)
"""few or many of 64 accelerators, anywhere"""


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
