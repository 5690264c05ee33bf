"""Joint plans of pooled racks: optimal, never worse than the loop, and all realised."""

from itertools import pairwise

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.lns.neighbourhood import has_neighbourhoods
from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.benchmarks.random_pools import random_pool
from tests.oracles.pool_search import best_value
from tests.oracles.tiny_disaggregated import disaggregated_pool
from tests.oracles.tiny_pools import tiny_pool
from tests.planner.fabrics.sipam.racks import QUICK
from tests.planner.optimum import assert_pruning_changes_no_level, assert_solved_to
from tests.seeds import seeds


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(20))
def test_value_is_the_enumerated_optimum(seed: int) -> None:
    instance = tiny_pool(seed, objectives=["value"])
    assert_solved_to(instance, best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(12))
def test_value_is_the_enumerated_optimum_where_groups_may_hold_circulants(seed: int) -> None:
    instance = tiny_pool(seed, objectives=["value"], collectives="circulants")
    assert_solved_to(instance, best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_value_is_the_enumerated_optimum_where_jobs_serve_from_two_pools(seed: int) -> None:
    instance = disaggregated_pool(seed)
    assert_solved_to(instance, best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(15, first=100))
def test_without_dominated_rows_every_level_has_the_same_optimum(seed: int) -> None:
    assert_pruning_changes_no_level(tiny_pool(seed))


@pytest.mark.slow
def test_neighbourhoods_only_improve_and_their_plans_hold() -> None:
    instance = random_pool(128, 16, 1)
    problem = expand(instance)
    assert has_neighbourhoods(problem)
    values: list[float] = []
    options = SolveOptions(
        workers=1,
        time_limit_s=600.0,
        deterministic_limit=0.3,
        on_incumbent=lambda found: values.append(found.objective or 0.0),
    )
    result = solve(problem, options=options)
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert values == sorted(values)
    assert any(found.source == "neighbourhood" for found in result.trace)
    assert values[-1] > values[0]


@pytest.mark.slow
def test_larger_pools_hold_no_less() -> None:
    values = []
    for units in (3, 6, 12):
        result = solve(random_pool(64, 8, 2, units=units), options=QUICK)
        values.append(result.objective or 0.0)
    assert all(b >= a * 0.999 for a, b in pairwise(values)), values
