"""Circulants: every rank has circuits to the ranks a few fixed numbers ahead, its strides, all of them at once.

What a rank gives reaches in round h the ranks that are h strides away and no fewer, in equal parts from all that are
one stride nearer. A reduce-scatter is an all-gather run backwards. Of an all-to-all, what a rank has for another goes
one stride a round; as strides may be taken in any order, its pieces begin in turn with each, so that all circuits carry
as much in every round. Source: breadth-first broadcast of Zhao et al., *Efficient Direct-Connect Topologies for
Collective Communications* (NSDI 2025, arXiv:2202.03356), with circulants among its topologies; the strides are ours.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from math import lcm

from costmodel.catalog import documents

Strides = tuple[int, ...]
Ways = tuple[Strides, ...]
"""lists of strides, in ascending order, of as many each"""


@lru_cache(maxsize=4096)
def listed_strides(table: str, ranks: int) -> tuple[Strides, ...]:
    """Strides worth holding by the catalog, of `all_reduce` or `all_to_all`; none for groups that it does not have."""
    return tuple(tuple(strides) for strides in documents()["circulants"][table].get(str(ranks), ()))


@lru_cache(maxsize=4096)
def reached(ranks: int, strides: Strides) -> tuple[dict[int, Strides], ...]:
    """By round, the ranks ahead that are reached in it, each with the strides that lead there from one stride nearer;
    ValueError where some are never reached."""
    rounds: list[dict[int, Strides]] = []
    known, last = {0}, {0}
    while last:
        found: dict[int, Strides] = {}
        for stride in strides:
            for place in {(near + stride) % ranks for near in last} - known:
                found[place] = (*found.get(place, ()), stride)
        known |= found.keys()
        last = set(found)
        rounds += [found] if found else []
    if len(known) < ranks:
        raise ValueError(f"strides: {strides} do not lead to all of {ranks} ranks; give some without a common divisor")
    return tuple(rounds)


@lru_cache(maxsize=4096)
def shortest_ways(ranks: int, strides: Strides) -> dict[int, Ways]:
    """By ranks ahead, all ways there of fewest strides, the order of strides left out."""
    found: dict[int, Ways] = {0: ((),)}
    for each in reached(ranks, strides):
        for place, lasts in each.items():
            ways = {tuple(sorted((*way, last))) for last in lasts for way in found[(place - last) % ranks]}
            found[place] = tuple(sorted(ways))
    del found[0]
    return found


def gather_load(ranks: int, strides: Strides) -> Fraction:
    """What the busiest circuits of all rounds of an all-gather carry, in parts of what one rank gives."""
    rounds = reached(ranks, strides)
    return sum((_busiest(strides, [(s, Fraction(1, len(each))) for each in r.values() for s in each]) for r in rounds),
               Fraction(0))  # fmt: skip


def relay_load(ranks: int, strides: Strides) -> Fraction:
    """The same of an all-to-all, in parts of what one rank gives one other."""
    every = shortest_ways(ranks, strides).values()
    return _busiest(strides, [(s, Fraction(1, len(ways))) for ways in every for way in ways for s in way])


def gather_pieces(ranks: int, strides: Strides) -> int:
    """Equal chunks that what a rank gives is cut into."""
    return lcm(*(len(each) for found in reached(ranks, strides) for each in found.values()))


def relay_pieces(ranks: int, strides: Strides) -> int:
    """Equal chunks of what a rank gives another: of each way one for each round that it may begin in."""
    ways = shortest_ways(ranks, strides).values()
    return len(reached(ranks, strides)) * lcm(*map(len, ways))


def _busiest(strides: Strides, carried: Iterable[tuple[int, Fraction]]) -> Fraction:
    loads = dict.fromkeys(strides, Fraction(0))
    for stride, share in carried:
        loads[stride] += share
    return max(loads.values())
