"""Jobs packed into servers by counts, and plans from such packings."""

from itertools import product
from random import Random

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.candidates.lagrangian_bounds import pool_prices
from planner.checks import check
from planner.cpsat.solve import plan_of
from planner.fabrics.problem import Problem
from planner.fabrics.sipam.demand import PoolDemand, asked_across, held_of_rank
from planner.fabrics.sipam.fill_server import fill
from planner.fabrics.sipam.packed_start import packed
from planner.fabrics.sipam.packing import Packing
from planner.fabrics.sipam.server_layout import ServerLayout
from planner.fabrics.sipam.server_menus import MenuItem, Menu, Spread, menus_of
from planner.model.clock import Clock
from tests.benchmarks.random_pools import random_pool


@pytest.fixture(scope="module")
def problem() -> Problem:
    return expand(random_pool(128, 16, 0))


def drawn(rng: Random, over: int = 0) -> Menu:
    """Some ways to run one job, priced at 1 for an accelerator."""
    sizes = [(rng.randint(1, 4), rng.randint(0, 6), rng.random() * 6) for _ in range(rng.randint(1, 3))]
    worth = max(max(value - ranks for ranks, _, value in sizes), 0.0)
    items = tuple(MenuItem(row, *size, worth - size[2] + size[0]) for row, size in enumerate(sizes))
    spreads = tuple(Spread(9, 4, 1, 1, 2, 5.0, worth - 1.0) for _ in range(over))
    return Menu(items, spreads, max(worth, 1.0 * over), 2.0, is_required=False)


@pytest.mark.parametrize("seed", range(20))
def test_a_server_is_filled_as_well_as_can_be(seed: int) -> None:
    rng = Random(seed)
    menus, room = [drawn(rng).items for _ in range(4)], (rng.randint(1, 8), rng.randint(1, 12))
    gains = [[item.value - rng.random() for item in items] for items in menus]
    best = 0.0
    for choice in product(*([None, *range(len(items))] for items in menus)):
        taken = [(j, number) for j, number in enumerate(choice) if number is not None]
        if all(sum(menus[j][n][axis] for j, n in taken) <= room[axis - 1] for axis in (1, 2)):
            best = max(best, sum(gains[j][n] for j, n in taken))
    found = fill(menus, gains, room)
    assert len({j for j, _ in found}) == len(found)
    assert all(sum(menus[j][n][axis] for j, n in found) <= room[axis - 1] for axis in (1, 2))
    assert sum(gains[j][n] for j, n in found) == pytest.approx(best)


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


def test_packed_plans_are_good_and_hold(problem: Problem) -> None:
    plans = [*packed(problem, 0, Clock.of(600.0), 120)]
    assert sum(a.value for a in plans[-1]) > 0.95 * pool_prices(problem).bound
    for assignments in plans:
        assert not check(problem.instance, plan_of(problem, assignments), starts=True)
    assert [*packed(problem, 0, Clock.of(600.0), 120)] == plans


def test_no_packing_of_jobs_without_candidates(problem: Problem) -> None:
    nothing = Problem(problem.instance, tuple(o.take(np.zeros(0, np.int64)) for o in problem.options))
    assert [*packed(nothing, 0, Clock.of(600.0), 10)] == []


def test_amounts_of_rows_are_those_of_their_demands(problem: Problem) -> None:
    for options in problem.options:
        demands = [PoolDemand.of(shape) for shape in options.shapes]
        assert held_of_rank(options.candidates).T.tolist() == [[d.units, d.memory_io] for d in demands]
        several = np.flatnonzero(options.candidates.block < options.candidates.num_devices)
        asked = asked_across(options.candidates.take(several)).T.tolist()
        assert asked == [[demands[row].across, demands[row].uplinks] for row in several.tolist()]


def test_menus_drop_items_that_take_more_for_no_more_value(problem: Problem) -> None:
    for menu in menus_of(problem, pool_prices(problem), (32, 192)):
        for one, other in product(menu.items, repeat=2):
            takes_no_more = one.ranks <= other.ranks and one.units <= other.units
            assert one is other or not (takes_no_more and one.value >= other.value)
