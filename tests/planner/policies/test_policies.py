"""Every policy's plan passes the check; the exact one is never behind."""

import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.fabrics.problem import Problem
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.result import Incumbent, Result, SolveOptions, Status
from planner.pipeline import solve
from planner.policies import POLICIES, find_policy
from tests.oracles.tiny_instances import tiny_instance
from tests.paths import ROOT
from tests.planner.explain.remedies_cases import FAT_TREE
from tests.planner.small_racks import rack, serving, single, training
from tests.seeds import seeds

HEURISTICS = [name for name in POLICIES if name != "cpsat"]
OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=20.0)
RACK64 = ROOT / "instances" / "lumorph" / "rack64.yaml"


def first_of(instance: Instance) -> str:
    return instance.objectives[0].name


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(30, first=2000))
def test_plans_of_tiny_instances(seed: int) -> None:
    instance = tiny_instance(seed)
    problem = expand(instance)
    exact = solve(problem, options=OPTIONS)
    if exact.plan is not None:
        assert check(instance, exact.plan, starts=True) == []
    for name in HEURISTICS:
        result = solve(problem, policy=name, options=OPTIONS)
        assert result.policy == name
        assert (result.plan is None) == (result.status is Status.NO_PLAN)
        if result.plan is None:
            continue
        assert exact.status is not Status.INFEASIBLE
        assert check(instance, result.plan, starts=True) == []
        _claims_nothing_beyond_the_plan(result)
        assert exact.bound is not None
        assert exact.plan is not None
        assert result.objective is not None
        slack = 1e-6 * max(1.0, abs(result.objective))
        if first_of(instance) == "value":
            assert exact.bound >= result.objective - slack
        else:
            assert exact.bound <= result.objective + slack


def _claims_nothing_beyond_the_plan(result: Result) -> None:
    assert result.status is Status.FEASIBLE
    assert result.plan is not None
    assert [(level.objective, level.value) for level in result.levels] == [*result.plan.objectives.items()]
    assert all(level.bound is None and level.gap is None for level in result.levels)
    assert len(result.trace) == 1


@pytest.fixture(scope="module")
def rack64() -> Problem:
    return expand(Instance.load(RACK64))


@pytest.mark.slow
@pytest.mark.parametrize("name", HEURISTICS)
def test_heuristics_on_a_rack(rack64: Problem, name: str) -> None:
    result = solve(rack64, policy=name)
    assert result.plan is not None
    assert check(rack64.instance, result.plan) == []
    left_out = {each.job for each in result.left_out}
    assert left_out | set(result.plan.admitted) == {job.name for job in rack64.instance.jobs}
    assert not left_out & set(result.plan.admitted)
    assert result.statistics["candidates"] == rack64.num_candidates
    assert result.statistics["dominated"] == rack64.num_dominated


def test_random_fit_follows_its_seed(rack64: Problem) -> None:
    results = [solve(rack64, policy="random_fit", seed=seed) for seed in (1, 1, 2)]
    assert results[0].plan == results[1].plan
    assert results[0].plan != results[2].plan


@pytest.mark.slow
@pytest.mark.parametrize("name", HEURISTICS)
def test_required_job_without_a_place_is_no_plan_and_no_proof(name: str) -> None:
    instance = Instance.parse(rack(training("x", 8, required=True), fibers=0))
    result = solve(instance, policy=name)
    assert (result.status, result.plan, result.levels) == (Status.NO_PLAN, None, ())
    assert (result.objective, result.bound, result.gap) == (None, None, None)


@pytest.mark.parametrize("name", POLICIES)
def test_required_jobs_go_before_those_that_arrive_earlier(name: str) -> None:
    data = rack(serving("a", 2), serving("b", 2, required=True), servers=1, tiles=3)
    result = solve(Instance.parse(data), policy=name, options=OPTIONS)
    assert result.plan is not None
    assert "b" in result.plan.admitted


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_residents_stay_or_are_displaced(name: str) -> None:
    data = rack(serving("a", 2), residents=[single("r", "s0.t0"), single("q", "s0.t1")], servers=1)
    result = solve(Instance.parse(data), policy=name, options=OPTIONS)
    assert result.plan is not None
    assert result.plan["r"].devices == ("s0.t0",)
    failed = Instance.parse(data | {"cluster": data["cluster"] | {"health": {"failed_tiles": ["s0.t0"]}}})
    moved = solve(failed, policy=name, options=OPTIONS)
    assert moved.plan is not None
    assert moved.plan["r"].is_moved
    assert check(failed, moved.plan) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_fat_tree(name: str) -> None:
    data = rack(training("a", [4, 8]), serving("b", 2), serving("c", 1))
    data["cluster"]["fabric"] = FAT_TREE
    result = solve(Instance.parse(data), policy=name, options=OPTIONS)
    assert result.plan is not None
    assert check(Instance.parse(data), result.plan, starts=True) == []


@pytest.mark.parametrize("name", POLICIES)
def test_a_job_without_candidates_is_left_out_and_says_so(name: str) -> None:
    data = rack(serving("x", 1, model="llama-3.1-70b"), serving("y", 1))
    result = solve(Instance.parse(data), policy=name, options=OPTIONS)
    assert [each.job for each in result.left_out] == ["x"]
    assert "impossible alone" in result.left_out[0].reason


@pytest.mark.parametrize("name", POLICIES)
def test_incumbents_are_told(name: str) -> None:
    seen: list[Incumbent] = []
    solve(Instance.parse(rack(serving("y", 1))), policy=name, workers=1, on_incumbent=seen.append)
    assert seen
    assert seen[0].level == "value"


def test_unknown_policies_are_named() -> None:
    with pytest.raises(InputError, match="policies are: cpsat, first_fit, best_fit"):
        find_policy("magic")
    assert find_policy("cpsat") is POLICIES["cpsat"]
