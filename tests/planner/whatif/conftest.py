"""Fixtures of the tests in this folder."""

import pytest

from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.benchmarks.random_pools import random_pool
from tests.planner.whatif.repair.pools_cases import Pool


@pytest.fixture(scope="module", params=[0, 1])
def pool(request: pytest.FixtureRequest) -> Pool:
    instance = random_pool(64, 5, seed=request.param, units=6)
    plan = solve(instance, options=SolveOptions(time_limit_s=60, deterministic_limit=2, workers=1)).plan
    assert plan is not None
    return instance, plan
