"""Crossovers: the lower envelope of all plans, and nothing but it."""

from itertools import pairwise

import numpy as np
import pytest

from costmodel.collectives.best import best
from costmodel.collectives.crossovers import crossovers
from costmodel.collectives.family import Family
from costmodel.collectives.ladder import Collective
from tests.costmodel.collectives.cases import limits


@pytest.mark.slow
@pytest.mark.parametrize("collective", ["all_reduce", "reduce_scatter", "broadcast", "all_to_all"])
@pytest.mark.parametrize(("ranks", "max_peers"), [(8, 3), (19, 16), (64, 3)])
def test_every_size_has_its_best_plan(collective: Collective, ranks: int, max_peers: int) -> None:
    pieces = crossovers(collective, ranks, limits(max_peers), 1, 2**40)
    starts = [start for start, _ in pieces]
    assert starts[0] == 1
    assert all(before < after for before, after in pairwise(starts))
    for message_bytes in np.geomspace(1, 2**40, 60):
        plan = [piece for start, piece in pieces if start <= message_bytes][-1]
        expected_s = best(collective, ranks, float(message_bytes), limits(max_peers)).time_s
        assert plan.time_s(float(message_bytes)) == pytest.approx(expected_s, rel=1e-9)


def test_neighbours_are_equal_where_they_meet() -> None:
    pieces = crossovers("all_reduce", 64, limits(3), 1, 2**40)
    assert len(pieces) > 3
    for (_, before), (start, after) in pairwise(pieces):
        assert before.time_s(start) == pytest.approx(after.time_s(start), rel=1e-9)
        assert before.time_s(2 * start) > after.time_s(2 * start)


def test_bad_ranges_are_named() -> None:
    with pytest.raises(ValueError, match="low_bytes, high_bytes"):
        crossovers("all_reduce", 8, limits(), 10, 10)
    with pytest.raises(ValueError, match="overlap"):
        crossovers("all_reduce", 8, limits(), 1, 10, Family(overlap=True))
