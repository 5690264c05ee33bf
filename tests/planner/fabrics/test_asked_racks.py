"""A job that asks for servers by rack is placed, on free servers, whenever some are so many of each rack."""

from random import Random

import pytest

from planner.fabrics.search import Strategy
from planner.heuristics.strategies import aligned, in_order, shuffled, tightest
from tests.planner.fabrics.asked_racks_cases import drawn, is_possible, placed


@pytest.mark.parametrize("strategy", [tightest, in_order, aligned, shuffled(Random(0))])
def test_a_place_is_found_where_there_is_one(strategy: Strategy) -> None:
    draw, found = Random(1), [0, 0]
    for _ in range(120):
        options, free = drawn("fat_tree", draw)
        each = options.job.constraints.per_server or 0
        able = [server for server, number in enumerate(free.lit) if number >= each]
        is_free = is_possible(options, able)
        assert (placed(options, free, strategy, [0]) is not None) == is_free
        found[is_free] += 1
    assert min(found) > 20
