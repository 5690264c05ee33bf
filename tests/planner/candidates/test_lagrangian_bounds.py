"""Prices of shared parts bound the value of every plan."""

import pytest

from planner.candidates.expand import expand
from planner.candidates.lagrangian_bounds import pool_prices
from planner.pipeline import solve
from tests.oracles.tiny_pools import tiny_pool
from tests.planner.optimum import OPTIONS


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_prices_bound_every_plan(seed: int) -> None:
    instance = tiny_pool(seed, objectives=["value"])
    problem = expand(instance)
    prices, result = pool_prices(problem), solve(problem, options=OPTIONS)
    if result.plan is None or result.objective is None:
        return
    assert prices.bound >= result.objective - 1e-9
    for assignment in result.plan.assignments:
        options = next(o for o in problem.options if o.job.name == assignment.job)
        row = options.row_of(assignment.configuration)
        number = problem.options.index(options)
        if row is not None:
            assert prices.rows[number][row] >= result.objective - 1e-9
