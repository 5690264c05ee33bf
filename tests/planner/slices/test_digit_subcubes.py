"""Subcubes of digits are given where one is free."""

import pytest
from hypothesis import given, settings

from planner.slices import DigitSubcubes
from planner.slices.allocator import members
from tests.oracles.slices import subcubes_of
from tests.planner.slices.allocator_cases import Step, play, small_steps, taken_sets


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


def test_order_of_digits() -> None:
    near, far = DigitSubcubes(2, 3), DigitSubcubes(2, 3, order="far")
    pairs = [allocator.allocate(2) for allocator in (near, far)]
    assert [found and found.devices for found in pairs] == [0b11, 0b10001]
