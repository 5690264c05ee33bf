"""The search for strides: what it keeps of small groups is what trying all sets gives, and the catalog holds it."""

from fractions import Fraction
from itertools import combinations

import pytest

from costmodel.collectives.circulants import listed_strides
from planner.synthesis.circulant_search import MOST_PIECES, search_strides


@pytest.mark.parametrize("ranks", [6, 9, 20])
def test_the_catalog_holds_what_the_search_finds(ranks: int) -> None:
    for table, found in search_strides(ranks).items():
        assert found == [*listed_strides(table, ranks)]


@pytest.mark.parametrize("ranks", [5, 7, 8])
def test_no_other_strides_have_fewer_rounds_and_less_load(ranks: int) -> None:
    """All sets, their distances and loads worked out from powers of a matrix of steps."""
    for number in range(2, ranks - 1):
        costs = [_cost(ranks, strides) for strides in combinations(range(1, ranks), number)]
        known = [cost for cost in costs if cost is not None and cost[2] <= MOST_PIECES["all_reduce"]]
        best = {(a, b) for a, b, _ in known if not any((c, d) != (a, b) and c <= a and d <= b for c, d, _ in known)}
        listed = [each for each in listed_strides("all_reduce", ranks) if len(each) == number]
        assert {_cost(ranks, each)[:2] for each in listed} == best  # type: ignore[index]


def _cost(ranks: int, strides: tuple[int, ...]) -> tuple[int, Fraction, int] | None:
    """Rounds, busiest load of all of them, and the least common multiple of the parts that shares are."""
    walks = [1] + [0] * (ranks - 1)
    far: dict[int, int] = {0: 0}
    for number in range(1, ranks):
        walks = [sum(walks[(x - s) % ranks] for s in strides) for x in range(ranks)]
        far |= {x: number for x in range(ranks) if walks[x] and x not in far}
    if len(far) < ranks:
        return None
    load, pieces = Fraction(0), 1
    for number in range(1, max(far.values()) + 1):
        here = [x for x in far if far[x] == number]
        own = {x: [s for s in strides if far[(x - s) % ranks] == number - 1] for x in here}
        load += max(sum(Fraction(s in own[x], len(own[x])) for x in here) for s in strides)
        for each in own.values():
            pieces = next(n for n in range(pieces, 1000, pieces) if n % len(each) == 0)
    return max(far.values()), load, pieces
