"""Racks with shared waveguides are planned: checked plans, valid bounds, starts that get better."""

import math

import pytest

from planner import SolveOptions, check
from planner.candidates.expand import expand
from planner.candidates.knapsack_bounds import KnapsackBounds
from planner.cpsat.solve import plan_of
from planner.fabrics.lightpath.shortlist import listed_shortly
from planner.heuristics.greedy import place_all, priced_rows
from planner.heuristics.ruin_recreate import Effort, recreated
from planner.heuristics.strategies import tightest
from planner.model.clock import Clock
from tests.benchmarks.bench_shared import measure
from tests.benchmarks.shared_racks import NUM_TILES, shared_rack

LIMIT_S = 4.0
ROUNDS = 4


@pytest.mark.slow
@pytest.mark.parametrize(("num_jobs", "seed"), [(16, 3), (40, 8)])
def test_plans_pass_the_checks_and_the_gap_is_finite(num_jobs: int, seed: int) -> None:
    figures = measure(shared_rack(num_jobs, seed), SolveOptions(time_limit_s=LIMIT_S, workers=1))
    assert figures.violations == 0
    assert math.isfinite(figures.gap)
    assert figures.first_value <= figures.value <= figures.bound


@pytest.mark.parametrize("seed", range(4))
def test_racks_are_as_large_and_as_loaded_as_said(seed: int) -> None:
    for num_jobs in (16, 40):
        rack = shared_rack(num_jobs, seed)
        assert rack.cluster.fabric.num_devices == NUM_TILES
        assert len(rack.jobs) == num_jobs
        assert shared_rack(num_jobs, seed) == rack


@pytest.mark.slow
def test_ruin_and_recreate_gets_better_and_breaks_no_rule() -> None:
    rack = shared_rack(16, 3)
    problem = listed_shortly(expand(rack))
    rows, jobs = priced_rows(problem)
    start = place_all(problem, tightest, row_order=rows, job_order=jobs)
    assert start is not None
    effort = Effort(Clock.of(float("inf")), rounds=ROUNDS, patience=ROUNDS)
    plans = [start, *recreated(problem, start, 0, effort, KnapsackBounds.of(problem).bound)]
    values = [sum(assignment.value for assignment in plan) for plan in plans]
    assert len(plans) > 1
    assert values == sorted(values)
    assert all(not check(rack, plan_of(problem, plan)) for plan in (plans[0], plans[-1]))
