"""Slices chosen by placed steps, against an enumeration of slices, splits and pages."""

from dataclasses import replace
from functools import cache

import pytest

from costmodel.parallelism.configuration import Configuration
from planner.checks import check
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import Incumbent, SolveOptions, Status
from planner.pipeline import solve
from tests.oracles.placed_nodes import best_value, placed_evaluation, placed_networks, placed_nodes
from tests.paths import ROOT

OPTIONS = SolveOptions(time_limit_s=120.0, workers=1)
CHANGED = (8, 11, 13, 16, 24)
"""seeds in which places change who runs how"""
EVALUATED = (0, 1, 6)


@cache
def _best(seed: int) -> float:
    """Enumerated, of a cluster of memory nodes."""
    return best_value(placed_nodes(seed))


def _scored(instance: Instance) -> Instance:
    return instance.model_copy(update={"placed_steps": False})


def _choices(plan: Plan | None) -> set[tuple[str, Configuration]]:
    assert plan is not None
    return {(each.job, each.configuration) for each in plan.assignments}


def _optimum(instance: Instance, best: float) -> Plan:
    """The plan of an instance, which is proven, checked and worth as much as the enumerated one."""
    result = solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(best, rel=2e-4)
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    return result.plan


@pytest.mark.parametrize("seed", [1, 3, *CHANGED])
def test_value_is_the_enumerated_optimum(seed: int) -> None:
    instance = placed_nodes(seed)
    placed, scored = _choices(_optimum(instance, _best(seed))), _choices(solve(_scored(instance), options=OPTIONS).plan)
    assert (placed != scored) == (seed in CHANGED)


@pytest.mark.slow
@pytest.mark.parametrize("seed", EVALUATED)
def test_value_of_jobs_that_evaluate_is_the_enumerated_optimum(seed: int) -> None:
    instance = placed_evaluation(seed)
    _optimum(instance, best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [7, 26])
def test_value_of_networks_is_the_enumerated_optimum(seed: int) -> None:
    instance = placed_networks(seed)
    result = solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(best_value(instance), rel=2e-4)
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert (_choices(result.plan) != _choices(solve(_scored(instance), options=OPTIONS).plan)) == (seed == 26)


def test_steps_of_a_plan_are_those_of_its_places() -> None:
    instance = placed_nodes(0)
    result = solve(instance, options=OPTIONS)
    assert result.plan is not None
    tiers = {each.job: each.second_tier for each in result.plan.assignments if each.second_tier is not None}
    assert tiers
    for name, tier in tiers.items():
        assert result.plan[name].step_s == pytest.approx(tier.step_s)
    assert result.statistics["placed"] >= len(tiers)
    scored = solve(_scored(instance), options=OPTIONS)
    assert scored.plan is not None
    assert all(scored.plan[name].step_s > tier.step_s for name, tier in tiers.items()), "some stays in local memory"


@pytest.mark.parametrize("limit_s", [60.0, 0.0])
def test_values_rise_and_bounds_fall_on_one_clock(limit_s: float) -> None:
    told: list[Incumbent] = []
    instance = placed_nodes(11)
    result = solve(instance, options=replace(OPTIONS, time_limit_s=limit_s, on_incumbent=told.append))
    assert tuple(told) == result.trace
    assert [each.wall_time_s for each in told] == sorted(each.wall_time_s for each in told)
    assert {each.level for each in told} == {"value"}
    values = [each.objective for each in told if each.objective is not None]
    bounds = [each.bound for each in told if each.bound is not None]
    assert values == sorted(values)
    assert bounds == sorted(bounds, reverse=True)
    best = _best(11)
    assert all(value <= best * (1 + 1e-9) for value in values), "a choice by steps that no places reach is told"
    assert all(bound >= best * (1 - 1e-9) for bound in bounds)
    assert (told[-1].objective, told[-1].bound) == (result.objective, result.bound)


@pytest.mark.parametrize("policy", ["first_fit", "best_fit"])
def test_policies_are_judged_by_placed_steps_too(policy: str) -> None:
    instance = placed_nodes(1)
    result = solve(instance, policy=policy, options=OPTIONS)
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []


def test_a_plan_without_places_or_with_another_step_breaks_the_rules() -> None:
    instance = placed_nodes(0)
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    data = plan.model_dump(mode="json")
    placed = next(each for each in data["assignments"] if each["second_tier"])
    tier = placed["second_tier"]
    placed["second_tier"] = tier | {"step": tier["step"] / 2}
    assert {each.rule for each in check(instance, Plan.model_validate(data))} > {"claims"}, "a replay tells it, too"
    placed["second_tier"] = None
    assert {each.rule for each in check(instance, Plan.model_validate(data))} == {"second_tier", "claims"}


def test_the_shipped_instances_differ_in_what_decides_alone() -> None:
    placed, scored = (Instance.load(ROOT / "instances/joint" / f"{name}.yaml") for name in ("nodes", "nodes_scored"))
    assert (placed.placed_steps, scored.placed_steps) == (True, False)
    assert (placed.cluster, placed.jobs) == (scored.cluster, scored.jobs)


def test_evaluation_beside_offload_is_proven_and_lets_one_more_job_run() -> None:
    """The optimizer's state of a job is in memory nodes; without these the job takes the place of another one."""
    joint, plain = (Instance.load(ROOT / f"instances/joint/evaluation{twin}.yaml") for twin in ("", "_plain"))
    found, without = (solve(instance, options=OPTIONS) for instance in (joint, plain))
    assert found.plan is not None
    assert without.plan is not None
    assert found.status is Status.OPTIMAL
    assert without.status is Status.OPTIMAL
    assert (len(found.plan.assignments), len(without.plan.assignments)) == (3, 2)
    tiers = {each.job: each.second_tier for each in found.plan.assignments}
    tier = tiers["llama8b-long"]
    assert tier is not None
    assert tier.is_proven
    assert check(joint, found.plan, starts=True) == []
