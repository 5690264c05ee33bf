"""Pairs of what is free are counted once."""

from planner.simulate.fragmentation import paired


def test_pairs_are_counted_once() -> None:
    assert paired([3, 3, 2], 4, lambda a, b: True) == 2
    assert paired([3, 3, 2], 4, lambda a, b: False) == 0
    assert paired([5, 1, 0], 4, lambda a, b: True) == 1
