"""Circulants: rounds, loads of circuits, ways of fewest strides."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings

from costmodel.collectives.circulants import (
    Strides,
    gather_load,
    listed_strides,
    reached,
    relay_load,
    shortest_ways,
)
from tests.costmodel.collectives.circulant_cases import groups_and_strides


@settings(max_examples=40, deadline=None)
@given(groups_and_strides())
def test_rounds_and_ways_are_those_of_all_walks(drawn: tuple[int, Strides]) -> None:
    """Every walk of so many strides, tried out."""
    ranks, strides = drawn
    ways: dict[int, set[Strides]] = {0: {()}}
    for number, found in enumerate(reached(ranks, strides), start=1):
        ends: dict[int, set[Strides]] = {}
        for walk in product(strides, repeat=number):
            ends.setdefault(sum(walk) % ranks, set()).add(tuple(sorted(walk)))
        new = {place: walks for place, walks in ends.items() if place not in ways}
        assert found.keys() == new.keys()
        assert all(set(found[place]) == {s for walk in new[place] for s in walk} for place in new)
        ways |= new
    assert {place: set(found) for place, found in shortest_ways(ranks, strides).items()} | {0: {()}} == ways


@settings(max_examples=60, deadline=None)
@given(groups_and_strides())
def test_the_busiest_circuits_carry_no_less_than_the_mean(drawn: tuple[int, Strides]) -> None:
    ranks, strides = drawn
    rounds = reached(ranks, strides)
    hops = sum(number * len(found) for number, found in enumerate(rounds, start=1))
    assert gather_load(ranks, strides) >= Fraction(ranks - 1, len(strides))
    assert relay_load(ranks, strides) >= Fraction(hops, len(strides))


def test_a_ring_and_a_complete_graph_are_circulants() -> None:
    assert (len(reached(7, (1,))), gather_load(7, (1,)), relay_load(7, (1,))) == (6, 6, 21)
    assert (len(reached(4, (1, 2, 3))), gather_load(4, (1, 2, 3)), relay_load(4, (1, 2, 3))) == (1, 1, 1)


def test_strides_with_a_common_divisor_are_refused() -> None:
    with pytest.raises(ValueError, match="give some without a common divisor"):
        reached(8, (2, 4))


def test_the_catalog_lists_strides_that_reach_all_ranks() -> None:
    for table, ranks in product(("all_reduce", "all_to_all"), range(4, 65)):
        listed = listed_strides(table, ranks)
        assert listed, (table, ranks)
        assert all(reached(ranks, strides) for strides in listed)
    assert listed_strides("all_reduce", 65) == ()
