"""Knapsack bounds against enumeration; cores keep every row of an optimal plan."""

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.candidates.knapsack_bounds import KnapsackBounds
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.oracles.tiny_instances import tiny_instance
from tests.planner.candidates.knapsack_cases import combinations, small_problem
from tests.planner.small_racks import rack, serving, training

OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_bounds_are_those_of_the_knapsack(seed: int) -> None:
    problem = small_problem(seed)
    sieve, found = KnapsackBounds.of(problem), combinations(problem)
    assert sieve.bound == pytest.approx(max((value for _, value in found), default=-np.inf))
    for j, options in enumerate(problem.options):
        for row in range(len(options)):
            best = max((value for rows, value in found if rows[j] == row), default=-np.inf)
            assert sieve.rows[j][row] == pytest.approx(best)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_core_keeps_every_row_that_reaches_the_threshold(seed: int) -> None:
    problem = small_problem(seed)
    sieve, found = KnapsackBounds.of(problem), combinations(problem)
    threshold = 0.9 * sieve.bound
    keep = [0 if seed % 2 else None for _ in problem.options]
    core = sieve.core(problem, threshold, keep)
    for j, (options, kept) in enumerate(zip(problem.options, core.options, strict=True)):
        expected = {rows[j] for rows, value in found if value >= threshold and rows[j] is not None}
        expected |= {0} if seed % 2 else set()
        assert kept.value.tolist() == [options.value[row] for row in sorted(r for r in expected if r is not None)]


def test_without_enough_devices_for_what_must_run_the_bound_is_minus_infinity() -> None:
    data = rack(serving("a", 5, required=True), serving("b", 4, required=True))
    assert KnapsackBounds.of(expand(Instance.parse(data))).bound == -np.inf


def test_a_core_without_a_threshold_is_the_problem() -> None:
    problem = expand(Instance.parse(rack(training("a", [2, 4]), serving("b", 2))))
    core = KnapsackBounds.of(problem).core(problem, -np.inf, [None, None])
    assert [len(o) for o in core.options] == [len(o) for o in problem.options]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_no_plan_is_above_the_bound_of_a_row_it_uses(seed: int) -> None:
    problem = expand(tiny_instance(seed))
    result = solve(problem, options=OPTIONS)
    sieve = KnapsackBounds.of(problem)
    if result.plan is None:
        return
    total = sum(a.value for a in result.plan.assignments)
    assert total <= sieve.bound + 1e-9
    for options, bounds in zip(problem.options, sieve.rows, strict=True):
        if options.job.name in result.plan.admitted:
            row = options.row_of(result.plan[options.job.name].configuration)
            assert row is not None
            assert total <= bounds[row] + 1e-9


@pytest.mark.slow
def test_current_row_of_a_resident_stays_in_every_core() -> None:
    for seed in range(60):
        problem = expand(tiny_instance(seed))
        core = KnapsackBounds.of(problem).core(problem, np.inf, [None] * len(problem.options))
        for options, kept in zip(problem.options, core.options, strict=True):
            assert len(kept) == (options.current is not None)
            if options.current is not None:
                assert kept.current == 0
                assert kept.candidates.configuration(0) == options.candidates.configuration(options.current)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_a_threshold_for_so_many_rows_keeps_the_highest(seed: int) -> None:
    sieve = KnapsackBounds.of(small_problem(seed))
    bounds = np.sort(np.concatenate(sieve.rows))[::-1]
    for count in range(len(bounds) + 1):
        assert (bounds > sieve.highest(count)).sum() <= count
    assert sieve.highest(len(bounds)) == -np.inf
