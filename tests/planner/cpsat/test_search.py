"""What the exact policy says when it must stop early, cannot succeed, or has nothing to decide."""

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.checks import check
from planner.cpsat.search import FIRST_SHARE, FIRST_SHARE_OF_FEW, Search
from planner.cpsat.step2.realize import realize
from planner.fabrics.lightpath.more_fibers import with_fibers, with_joined_server
from planner.fabrics.pattern import Choice
from planner.formulation.step_two import StepTwoLimits
from planner.model.instance import Instance
from planner.model.result import Incumbent, Result, SolveOptions, Status, relative_gap
from planner.pipeline import solve
from planner.policies import POLICIES
from planner.whatif.comparable import expand_as, references
from tests.oracles.tiny_instances import tiny_instance
from tests.planner.cpsat.search_cases import OPTIONS
from tests.planner.small_racks import Fields, rack, serving, single, training


def crowded(seed: int, **fields: object) -> Instance:
    """Six jobs that ask for more than eight devices and two wavelengths each way."""
    rng = Random(seed)
    jobs = []
    for i in range(6):
        job = training if rng.random() < 0.6 else serving
        most, weight = rng.choice([2, 3, 4, 6, 8]), rng.choice([1, 2, 3])
        jobs.append(job(f"j{i}", {"min": 1, "max": most}, weight=weight))
    return Instance.parse(rack(*jobs, fibers=1, wavelengths_per_fiber=2) | fields)


def heuristics(instance: Instance) -> float:
    """Value of the best simple policy."""
    found = [solve(instance, policy=name).objective for name in POLICIES if name in ("first_fit", "best_fit")]
    return max(value for value in found if value is not None)


def rules(instance: Instance, result: Result) -> list[str]:
    assert result.plan is not None
    return [str(v) for v in check(instance, result.plan, starts=True)]


@pytest.mark.parametrize(
    "data",
    [
        rack(training("x", 8, required=True), fibers=0),
        rack(serving("x", 3, required=True), serving("y", 3, required=True), servers=1),
        rack(serving("x", 1, model="llama-3.1-70b", required=True)),
    ],
)
def test_required_jobs_that_cannot_run_are_infeasible(data: Fields) -> None:
    result = solve(Instance.parse(data), options=OPTIONS)
    assert (result.status, result.plan, result.objective) == (Status.INFEASIBLE, None, None)
    assert result.levels[0].status is Status.INFEASIBLE
    assert len(result.levels) == 1


@pytest.mark.parametrize(("servers", "share"), [(2, FIRST_SHARE_OF_FEW), (17, FIRST_SHARE)])
def test_level_1_has_more_of_the_time_where_there_are_few_devices(servers: int, share: float) -> None:
    instance = Instance.parse(rack(training("a", 4), servers=servers, tiles_per_server=8))
    search = Search(expand(instance), SolveOptions(time_limit_s=1000.0))
    assert len(instance.objectives) > 1
    assert search.seconds_left(0) == pytest.approx(1000 * share, rel=0.01)
    assert search.seconds_left(1) == pytest.approx(1000 / (len(instance.objectives) - 1), rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("limits", [{"time_limit_s": 0.0}, {"should_stop": lambda: True}])
def test_without_time_the_heuristic_plan_comes_back(seed: int, limits: dict[str, object]) -> None:
    instance = crowded(seed)
    result = solve(instance, workers=1, **limits)
    assert result.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert rules(instance, result) == []
    assert result.objective is not None
    assert result.objective >= heuristics(instance) - 1e-9
    assert result.bound is not None
    assert result.bound >= result.objective


@pytest.mark.slow
def test_a_solver_that_learned_nothing_proves_nothing() -> None:
    instance = crowded(11, objectives=["value"])
    best = solve(instance, options=OPTIONS)
    hasty = solve(instance, options=replace(OPTIONS, deterministic_limit=1e-9))
    assert best.objective is not None
    assert hasty.bound is not None
    assert hasty.bound >= best.objective - 1e-6


def test_stop_requests_end_the_search_with_a_plan() -> None:
    instance = crowded(3)
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 1

    result = solve(instance, workers=1, time_limit_s=30.0, should_stop=stop)
    assert rules(instance, result) == []
    assert result.wall_time_s < 15


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_hint_is_never_lost(seed: int) -> None:
    instance = crowded(seed)
    best = solve(instance, options=OPTIONS)
    assert best.plan is not None
    assert best.objective is not None
    again = solve(instance, workers=1, time_limit_s=0.0, hint=best.plan)
    assert again.objective is not None
    assert again.objective >= best.objective - 1e-6
    assert again.trace[0].source == "hint"
    assert rules(instance, again) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_same_seed_same_plan(seed: int) -> None:
    instance = crowded(seed)
    first, second = (solve(instance, options=replace(OPTIONS, seed=seed)) for _ in range(2))
    assert first.plan == second.plan
    assert first.levels == second.levels
    assert first.seed == seed


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_first_level_only_improves(seed: int) -> None:
    seen: list[Incumbent] = []
    result = solve(crowded(seed), options=replace(OPTIONS, on_incumbent=seen.append))
    assert tuple(seen) == result.trace
    first = [each for each in seen if each.level == "value"]
    values = [each.objective for each in first if each.objective is not None]
    bounds = [each.bound for each in first if each.bound is not None]
    assert values == sorted(values)
    assert all(later <= sooner + 1e-9 for sooner, later in pairwise(bounds))
    assert values[-1] <= bounds[-1] + 1e-9
    assert first[-1].source in ("proven", "limit")
    assert [each.wall_time_s for each in seen] == sorted(each.wall_time_s for each in seen)


@pytest.mark.slow
@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.3])
def test_later_levels_spend_no_more_than_the_tolerance(tolerance: float) -> None:
    objectives = [{"name": "value", "tolerance": tolerance}, {"name": "energy"}]
    instance = crowded(4, objectives=objectives)
    result = solve(instance, options=OPTIONS)
    assert result.plan is not None
    best = result.levels[0].value
    assert best is not None
    assert result.plan.objectives["value"] >= (1 - tolerance) * best - 1e-5
    if tolerance == 0.3:
        exact = solve(crowded(4, objectives=["value", "energy"]), options=OPTIONS)
        assert exact.plan is not None
        assert result.plan.objectives["energy"] < exact.plan.objectives["energy"]
        assert result.plan.objectives["value"] < best


def test_levels_follow_the_instance() -> None:
    order = ["moves", "value", "fragmentation"]
    data = rack(serving("a", 2), residents=[single("r", "s0.t0")]) | {"objectives": order}
    result = solve(Instance.parse(data), options=OPTIONS)
    assert [level.objective for level in result.levels] == order
    assert result.levels[0].value == 0
    assert result.status is Status.OPTIMAL


def test_counts_that_need_more_light_than_the_least_boundary_are_not_refuted() -> None:
    """A cube of eight ranks on 4 + 3 + 1 tiles, the first and the last server not joined: 6 circuits, not 5."""
    pairs = [("s0", "s1"), ("s1", "s0"), ("s1", "s2"), ("s2", "s1")]
    bundles = [{"from": a, "to": b, "count": 2} for a, b in pairs]
    job = training("x", 8, batch=8, constraints={"collective": "exchange"})
    changes = {"fibers": bundles, "wavelengths_per_tile": 3, "wavelengths_per_fiber": 3}
    health = {"failed_tiles": ["s1.t3", "s2.t2", "s2.t3"]}
    instance = Instance.parse(rack(job, servers=3, health=health, **changes) | {"objectives": ["value"]})
    problem = expand(instance, prune=False)
    options = problem.options[0]
    rows = [row for row, s in enumerate(options.shapes) if any(p.held == (3,) and p.radices for p in s.plans)]
    cube = replace(problem, options=(options.take(np.array(rows[:1], dtype=np.int64)),))
    row_on = {0: Choice(0, False, ((0, 4), (1, 3), (2, 1)))}
    limits = StepTwoLimits(time_limit_s=10.0, deterministic_limit=10.0, workers=1, seed=0)
    assert realize(cube, row_on, limits).assignments is not None
    result = solve(cube, options=OPTIONS)
    assert result.plan is not None
    assert result.plan.admitted == ("x",)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_more_capacity_never_lowers_the_best_value(seed: int) -> None:
    """Values measured against the fastest speeds of the original cluster."""
    instance = crowded(seed, objectives=["value"])
    measured = references(instance)
    base = solve(expand_as(instance, measured), options=OPTIONS)
    assert base.status is Status.OPTIMAL
    assert base.objective == pytest.approx(solve(instance, options=OPTIONS).objective)
    fiber = with_fibers(instance, {(0, 1): 1, (1, 0): 1})
    for larger in (fiber, with_joined_server(instance)):
        more = solve(expand_as(larger, measured), options=OPTIONS)
        assert more.bound is not None
        assert base.objective is not None
        assert more.bound >= base.objective - 1e-6
        if more.status is Status.OPTIMAL:
            assert more.objective is not None
            assert more.objective >= base.objective - 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*range(40)])
def test_final_plan_still_has_the_value_of_every_level_without_tolerance(seed: int) -> None:
    instance = tiny_instance(seed)
    result = solve(instance, options=replace(OPTIONS, deterministic_limit=20.0))
    if result.plan is None:
        return
    for objective, level in zip(instance.objectives, result.levels, strict=True):
        if objective.tolerance == 0:
            assert result.plan.objectives[objective.name] == pytest.approx(level.value, rel=1e-5, abs=1e-6)


def test_gap_is_relative_to_the_larger_magnitude() -> None:
    assert relative_gap(None, 1.0) is relative_gap(1.0, None) is None
    assert relative_gap(0.0, 0.0) == 0.0
    assert relative_gap(3.0, 4.0) == 0.25
    assert relative_gap(4.0, 3.0) == 0.25
