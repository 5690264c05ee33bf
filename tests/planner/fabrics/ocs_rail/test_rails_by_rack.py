"""Jobs with circuits that ask for servers by rack are placed whenever some servers have rails in common."""

from itertools import combinations
from random import Random

from planner.heuristics.strategies import tightest
from tests.planner.fabrics.asked_racks_cases import drawn, is_possible, placed


def test_a_place_is_found_where_there_is_one() -> None:
    draw, found = Random(2), [0, 0]
    for _ in range(120):
        options, free = drawn("ocs_rail", draw)
        rows = [row for row, shape in enumerate(options.shapes) if shape.chooses_servers][:1]
        if not rows:
            continue
        rails = combinations(range(4), options.job.constraints.per_server or 0)
        masks = [sum(1 << rail for rail in chosen) for chosen in rails]
        free_on = ([server for server, slots in enumerate(free.free) if slots & mask == mask] for mask in masks)
        is_free = any(is_possible(options, able) for able in free_on)
        assert (placed(options, free, tightest, rows) is not None) == is_free
        found[is_free] += 1
    assert min(found) > 10
