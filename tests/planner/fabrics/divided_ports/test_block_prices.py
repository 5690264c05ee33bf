"""Prices of blocks against every plan: no row of step 1 and no bound is below what some plan has."""

import pytest

from planner.candidates.expand import expand
from planner.candidates.lagrangian_bounds import pool_prices
from planner.fabrics.divided_ports.block_prices import BlockPrices
from tests.oracles.tiny_shares import tiny_shares
from tests.planner.fabrics.divided_ports.clusters import instance, job, resident, shared
from tests.planner.fabrics.divided_ports.placements import placeable


@pytest.mark.parametrize("seed", range(40))
def test_no_plan_is_cut_or_above_a_bound(seed: int) -> None:
    problem = expand(tiny_shares(seed, objectives=["value"]))
    prices = BlockPrices.of(problem)
    if prices is None:
        return
    for rows, value in placeable(problem):
        chosen = [(j, row) for j, row in enumerate(rows) if row is not None]
        paid = sum(int(prices.prices[prices.kind[j][row]] * prices.number[j][row]) for j, row in chosen)
        assert paid <= prices.limit
        assert value <= prices.bound * (1 + 1e-12)
        assert all(value <= prices.rows[j][row] * (1 + 1e-12) for j, row in chosen)


def test_they_bound_more_than_prices_of_all_servers_together() -> None:
    tighter = 0
    for seed in range(40):
        problem = expand(tiny_shares(seed, objectives=["value"]))
        if (prices := BlockPrices.of(problem)) is not None:
            tighter += prices.bound < pool_prices(problem).bound * (1 - 1e-6)
    assert tighter >= 5


def test_the_bound_of_blocks_that_no_server_divides_evenly_is_the_optimum() -> None:
    """Servers of three accelerators hold one job of two each: totals would let three run on two servers."""
    jobs = [job(name, 2, constraints={"one_server": True}) for name in "abc"]
    problem = expand(instance(*jobs, health={"failed_tiles": ["s0.g0", "s1.g0"]}))
    prices = BlockPrices.of(problem)
    assert prices is not None
    assert prices.bound == pytest.approx(max(value for _, value in placeable(problem)), rel=1e-5)


def test_there_are_none_where_residents_may_stay() -> None:
    asked, plan = shared()
    running = instance(job("b", 2), residents=(resident(asked, plan, "a"),))
    assert BlockPrices.of(expand(running)) is None
