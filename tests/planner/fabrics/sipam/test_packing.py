"""Jobs packed into servers by counts, and plans from such packings."""

from random import Random

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.fabrics.sipam.demand import PoolDemand, asked_across, held_of_rank
from planner.fabrics.sipam.packing import Packing
from planner.fabrics.sipam.server_layout import ServerLayout
from planner.fabrics.sipam.server_menus import Menu
from tests.benchmarks.random_pools import random_pool
from tests.planner.fabrics.sipam.packing_cases import FILLS, PRICES, beside, drawn, wide


@pytest.mark.parametrize("seed", range(5))
def test_moves_never_lose_value_and_nothing_is_taken_twice(seed: int) -> None:
    rng = Random(seed)
    menus = [drawn(rng, over=rng.randint(0, 1)) for _ in range(14)]
    whole = [(4, 6)] * 4
    search = Packing(ServerLayout.empty(menus, whole, [3] * 4, (1.0, 0.0)), [range(4)], Random(seed))
    for _ in range(60):
        before = search.best.value
        assert search.move() == (search.best.value > before + 1e-9)
        layout = search.best
        assert layout.value == pytest.approx(
            sum(menus[j].items[n].value for here in layout.inside for j, n in here.items())
            + sum(spread.value for spread, _ in layout.over.values())
        )
        for server, (ranks, units) in enumerate(whole):
            items = [menus[j].items[n] for j, n in layout.inside[server].items()]
            over = [(each, blocks) for each, at in layout.over.values() for s, blocks in at if s == server]
            assert sum(i.ranks for i in items) + sum(each.ranks * blocks for each, blocks in over) <= ranks
            assert sum(i.units for i in items) + sum(each.units * blocks for each, blocks in over) <= units
            assert sum(each.uplinks for each, _ in over) <= 3
        lying = [*layout.place, *layout.over]
        assert sorted([*lying, *layout.waiting]) == [*range(14)]


def test_a_packing_begins_with_jobs_over_servers_where_more_then_runs() -> None:
    """Both times the filling of a single server says that the first job had better lie over two."""

    def first(*menus: Menu) -> float:
        return Packing(ServerLayout.empty(menus, [(4, 4)] * 2, [2] * 2, PRICES), [range(2)], Random(0)).best.value

    assert first(wide(), *beside(3, 3)) == pytest.approx(5.0 + 3.5 + 3.5)
    last = FILLS._replace(items=(FILLS.items[0]._replace(value=6.0),))
    assert first(wide(), *beside(3), last) == pytest.approx(5.0 + 6.0), "over two there is no server for the last one"


def test_amounts_of_rows_are_those_of_their_demands() -> None:
    problem = expand(random_pool(128, 16, 0))
    for options in problem.options:
        demands = [PoolDemand.of(shape) for shape in options.shapes]
        assert held_of_rank(options.candidates).T.tolist() == [[d.units, d.memory_io] for d in demands]
        several = np.flatnonzero(options.candidates.block < options.candidates.num_devices)
        asked = asked_across(options.candidates.take(several)).T.tolist()
        assert asked == [[demands[row].across, demands[row].uplinks] for row in several.tolist()]
