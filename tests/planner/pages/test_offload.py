"""Pools as a second tier: units chosen with all else, and tensors placed inside what is reserved."""

import re
import time
from functools import cache
from typing import Any

import numpy as np
import pytest
import yaml

from planner.candidates.expand import expand
from planner.checks import check
from planner.model.instance import Instance
from planner.model.plan import Plan, SecondTier
from planner.model.result import Result, SolveOptions, Status
from planner.pages.offload import placed_result, with_second_tiers
from planner.pipeline import solve
from planner.policies import POLICIES
from tests.oracles.pool_search import best_value
from tests.oracles.tiny_pools import tiny_serving_pool, tiny_tiered_pool
from tests.paths import ROOT
from tests.planner.optimum import OPTIONS, assert_pruning_changes_no_level, assert_solved_to
from tests.seeds import seeds

RACK = ROOT / "instances" / "joint" / "rack48.yaml"


TOO_LARGE = 35
"""a seed with too many combinations to enumerate"""


@pytest.mark.slow
@pytest.mark.parametrize("seed", [seed for seed in seeds(20) if seed != TOO_LARGE])
def test_value_is_the_enumerated_optimum(seed: int) -> None:
    instance = tiny_tiered_pool(seed, objectives=["value"])
    assert_solved_to(instance, best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 11, 19, 27, 40, 48, 51])
def test_value_is_the_enumerated_optimum_where_services_keep_shares_in_units(seed: int) -> None:
    """27: OR-Tools 9.15 proves 1.652 where presolve may join rows that include others, the optimum being 1.750."""
    instance = tiny_serving_pool(seed)
    assert_solved_to(instance, best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 115))
def test_without_dominated_rows_every_level_has_the_same_optimum(seed: int) -> None:
    assert_pruning_changes_no_level(tiny_tiered_pool(seed))


@pytest.mark.slow
def test_units_are_listed_for_mappings_that_offload_alone() -> None:
    for options in expand(Instance.load(RACK), prune=False).options:
        rows = options.candidates
        units = np.array([split.memory_units or 0 for split in rows.splits])[rows.split]
        assert ((units > 0) == (rows.mappings.offload[rows.mapping] > 0)).all()
        assert set(units.tolist()) <= {0, 1, 2, 4}


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["sipam_loop", "first_fit", "best_fit"])
def test_policies_place_jobs_with_and_without_units(policy: str) -> None:
    assert policy in POLICIES
    instance = Instance.load(RACK)
    result = solve(instance, policy=policy)
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []


@cache
def _solved() -> tuple[Instance, Result]:
    instance = Instance.load(RACK)
    return instance, solve(instance, time_limit_s=10, pages_time_limit_s=4.0, workers=2)


def _tiers(result: Result) -> dict[str, SecondTier]:
    assert result.plan is not None
    return {each.job: each.second_tier for each in result.plan.assignments if each.second_tier is not None}


@pytest.mark.slow
def test_the_rack_is_solved_with_all_its_tensors() -> None:
    instance, result = _solved()
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    tiers = _tiers(result)
    offloading = {each.job for each in result.plan.assignments if each.configuration.memory_units}
    assert set(tiers) == offloading
    assert "gpt175b-train" in offloading
    assert len(offloading) < len(result.plan.assignments)


def test_placements_are_no_slower_than_rules_or_the_promise_of_the_score() -> None:
    _, result = _solved()
    assert result.plan is not None
    for name, tier in _tiers(result).items():
        assert tier.bound_s <= tier.step_s <= min(tier.rules.values()) * (1 + 1e-9)
        assert tier.gap <= (1e-4 if tier.is_proven else 0.1)
        assert tier.step_s <= result.plan[name].step_s * 1.001


def test_the_large_job_fits_on_its_accelerators_with_the_pool_alone() -> None:
    _, result = _solved()
    tiers = _tiers(result)
    assert tiers["gpt175b-train"].without_s is None
    assert all(tier.without_s is None or tier.step_s < tier.without_s for tier in tiers.values())


def _value(plan: Plan, instance: Instance) -> float:
    """What the jobs of a plan are worth by the fastest speeds of the whole rack."""
    fastest = {options.job.name: options.scores.speed.max() for options in expand(instance, prune=False).options}
    return sum(instance.job(a.job).weight * float(np.sqrt(a.speed / fastest[a.job])) for a in plan.assignments)


def _changed(units: tuple[int, ...], *, offloads: bool = True) -> Instance:
    data: dict[str, Any] = yaml.safe_load(RACK.read_text(encoding="utf-8"))
    data["cluster"]["fabric"]["memory_grid"] = list(units)
    for job in data["jobs"]:
        if "offload" in job["workload"] and not offloads:
            job["workload"]["offload"] = "none"
    return Instance.parse(data, "changed")


@pytest.mark.slow
@pytest.mark.parametrize(("units", "offloads"), [((1,), False), ((1,), True), ((2,), True)])
def test_the_joint_choice_is_worth_more_than_no_pool_or_equal_shares(units: tuple[int, ...], offloads: bool) -> None:
    """128 units for 48 accelerators: none of them, one, or two each."""
    instance, result = _solved()
    other = solve(_changed(units, offloads=offloads), time_limit_s=10, workers=2)
    assert other.status is Status.OPTIMAL
    assert other.plan is not None
    assert result.objective is not None
    assert _value(other.plan, instance) < result.objective - 0.01


def test_a_placement_is_read_back_as_it_was() -> None:
    instance, result = _solved()
    assert result.plan is not None
    for assignment in result.plan.assignments:
        found = placed_result(instance, assignment)
        if assignment.second_tier is None:
            assert found is None
            continue
        assert found is not None
        assert found.plan is not None
        assert found.plan.jobs[0].tensors == assignment.second_tier.tensors
        assert found.plan.jobs[0].step_s == pytest.approx(assignment.second_tier.step_s, rel=1e-12)


def test_places_are_left_open_unless_asked_for() -> None:
    result = solve(Instance.load(RACK), policy="best_fit")
    assert _tiers(result) == {}


@pytest.mark.slow
def test_asked_to_stop_a_plan_keeps_what_rules_find() -> None:
    problem = expand(Instance.load(RACK))
    first = solve(problem, time_limit_s=5, workers=2)
    started = time.process_time()
    result = with_second_tiers(problem, first, SolveOptions(pages_time_limit_s=600.0, should_stop=lambda: True))
    assert time.process_time() - started < 60
    assert result.plan is not None
    assert check(problem.instance, result.plan) == []
    assert _tiers(result)


def _running(seed: int) -> tuple[dict[str, Any], Plan]:
    """An instance whose planned jobs run already, as nested dicts, and the plan that started them."""
    instance = tiny_tiered_pool(seed, objectives=["value"])
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    data: dict[str, Any] = instance.model_dump(mode="json")
    jobs = {job["name"]: job for job in data["jobs"]}
    kept = {"devices", "configuration", "circuits", "memory"}
    data["residents"] = [jobs.pop(a.job) | a.model_dump(mode="json", include=kept) for a in plan.assignments]
    data["jobs"] = list(jobs.values())
    return data, plan


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3, 12, 27])
def test_residents_with_and_without_units_stay(seed: int) -> None:
    data, before = _running(seed)
    instance = Instance.parse(data)
    after = solve(instance, options=OPTIONS).plan
    assert after is not None
    assert check(instance, after, starts=True) == []
    for assignment in before.assignments:
        assert after[assignment.job].memory == assignment.memory
        assert not after[assignment.job].is_moved


@pytest.mark.slow
def test_a_resident_moves_off_a_failed_unit() -> None:
    data, before = _running(3)
    running = next(a for a in before.assignments if a.memory)
    data["cluster"]["health"]["failed_memory_units"] = [running.memory[0].units[0]]
    instance = Instance.parse(data)
    after = solve(instance, options=OPTIONS).plan
    if after is not None:
        assert after[running.job].is_moved
        assert check(instance, after, starts=True) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "offload", "missing"),
    [
        ("gpt3-1t", "optimizer", r"capacity is missing: on 16 accelerators each holds .* GB in its own memory"),
        ("gpt3-22b", "optimizer", None),
    ],
)
def test_what_a_job_lacks_is_said(model: str, offload: str, missing: str | None) -> None:
    data: dict[str, Any] = yaml.safe_load(RACK.read_text(encoding="utf-8"))
    workload = data["jobs"][0]["workload"] | {"model": model, "offload": offload, "recompute": "none"}
    data["jobs"] = [{"name": "one", "workload": workload, "accelerators": [16]}]
    result = solve(Instance.parse(data, "one"), time_limit_s=5, workers=1)
    assert bool(result.left_out) == (missing is not None)
    for left in result.left_out:
        assert re.search(missing or "", left.reason)
