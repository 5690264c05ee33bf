"""Strides of circulants for groups of a size: few rounds, little on the busiest circuit; the table of the catalog.

All sets of strides of small groups, of larger ones those with a circuit to the next rank that a seeded local search
meets. What is kept no other of as many strides equals in rounds and load.
"""

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import combinations
from math import comb, gcd

import numpy as np

from costmodel.collectives.circulants import (
    Strides,
    gather_load,
    gather_pieces,
    reached,
    relay_load,
    relay_pieces,
)

MOST_STRIDES = 6
MOST_RANKS = 64
EVERY = 1500
"""most sets that are all tried"""
STARTS = 40
"""of a local search"""
RELAYED = 60
"""sets of fewest strides to go in the mean that are tried for all-to-alls"""
MOST_PIECES = {"all_reduce": 12, "all_to_all": 48}
"""chunks of what a rank gives"""
Cost = tuple[int, Fraction]
"""rounds, and the load of the busiest circuit"""


def search_strides(ranks: int, seed: int = 0) -> dict[str, list[Strides]]:
    """By table of the catalog, strides for groups of so many ranks; the same for the same seed.

    Left out is what families have: one stride of an all-reduce, which is a ring, and strides to all others.
    """
    found: dict[str, list[Strides]] = {"all_reduce": [], "all_to_all": []}
    for number in range(1, min(MOST_STRIDES, ranks - 2) + 1):
        met = _Met(ranks)
        met.try_all(_every(ranks, number) if comb(ranks - 1, number) <= EVERY else _descents(met, number, seed))
        if number > 1:
            found["all_reduce"] += _undominated(met.costs, lambda strides: gather_pieces(ranks, strides), "all_reduce")
        near = sorted(met.costs, key=lambda strides: (met.hops(strides), strides))[:RELAYED]
        relayed = {each: (met.costs[each][0], relay_load(ranks, each)) for each in near}
        found["all_to_all"] += _undominated(relayed, lambda strides: relay_pieces(ranks, strides), "all_to_all")
    return found


class _Met:
    """Sets of strides that were tried, with their costs as all-gathers."""

    def __init__(self, ranks: int) -> None:
        self.ranks = ranks
        self.costs: dict[Strides, Cost] = {}

    def cost(self, strides: Strides) -> Cost:
        if strides not in self.costs:
            self.costs[strides] = len(reached(self.ranks, strides)), gather_load(self.ranks, strides)
        return self.costs[strides]

    def try_all(self, every: Iterable[Strides]) -> None:
        for strides in every:
            self.cost(strides)

    def hops(self, strides: Strides) -> int:
        """Strides to go to all others."""
        return sum(number * len(each) for number, each in enumerate(reached(self.ranks, strides), start=1))


def _every(ranks: int, number: int) -> Iterator[Strides]:
    return (strides for strides in combinations(range(1, ranks), number) if gcd(ranks, *strides) == 1)


def _descents(met: _Met, number: int, seed: int) -> Iterator[Strides]:
    """Sets with a circuit to the next rank, from random ones, each with one stride changed while that costs no more."""
    ranks, rng = met.ranks, np.random.default_rng((seed, met.ranks, number))
    for _ in range(STARTS):
        strides = (1, *sorted(map(int, 2 + rng.choice(ranks - 2, number - 1, replace=False))))
        stale = 0
        while stale < 12:
            place = 1 + int(rng.integers(number - 1))
            others = [*strides[1:place], *strides[place + 1 :]]
            free = [each for each in range(2, ranks) if each not in strides]
            other = (1, *sorted((*others, free[int(rng.integers(len(free)))])))
            stale = 0 if met.cost(other) < met.cost(strides) else stale + 1
            if met.cost(other) <= met.cost(strides):
                strides = other
        yield strides


def _undominated(costs: dict[Strides, Cost], pieces: Callable[[Strides], int], table: str) -> list[Strides]:
    """By rounds, the first of least load where fewer rounds have more."""
    kept: list[Strides] = []
    for strides in sorted(costs, key=lambda each: (*costs[each], each)):
        if (not kept or costs[strides][1] < costs[kept[-1]][1]) and pieces(strides) <= MOST_PIECES[table]:
            kept.append(strides)
    return kept
