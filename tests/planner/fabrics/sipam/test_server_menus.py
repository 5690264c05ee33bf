"""What is left of the ways to run a job in one server."""

from itertools import product

from planner.candidates.expand import expand
from planner.candidates.lagrangian_bounds import pool_prices
from planner.fabrics.sipam.server_menus import menus_of
from tests.benchmarks.random_pools import random_pool


def test_menus_drop_items_that_take_more_for_no_more_value() -> None:
    problem = expand(random_pool(128, 16, 0))
    for menu in menus_of(problem, pool_prices(problem), (32, 192)):
        for one, other in product(menu.items, repeat=2):
            takes_no_more = one.ranks <= other.ranks and one.units <= other.units
            assert one is other or not (takes_no_more and one.value >= other.value)
