"""Joint plans of pooled racks: optimal, never worse than the loop, and all realised."""

from dataclasses import replace
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
import pytest

from planner.candidates.expand import expand
from planner.candidates.lagrangian_bounds import pool_prices
from planner.checks import check
from planner.cpsat.lns.neighbourhood import has_neighbourhoods
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import first_fit
from planner.fabrics.sipam.published_loop import loop_rows
from planner.fabrics.sipam.server_pool import FreeServer
from planner.fabrics.sipam.step2 import Part, wire
from planner.formulation.step_two import StepTwoLimits
from planner.model.clock import Clock
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.policies.cpsat import _is_as_listed
from tests.benchmarks.random_pools import random_pool
from tests.oracles.pool_search import best_value
from tests.oracles.tiny_pools import tiny_pool
from tests.planner.optimum import OPTIONS, assert_pruning_changes_no_level, assert_solved_to

QUICK = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=2.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40))
def test_value_is_the_enumerated_optimum(seed: int) -> None:
    instance = tiny_pool(seed, objectives=["value"])
    assert_solved_to(instance, best_value(instance))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 130))
def test_without_dominated_rows_every_level_has_the_same_optimum(seed: int) -> None:
    assert_pruning_changes_no_level(tiny_pool(seed))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 260))
def test_joint_plans_are_never_worse_than_the_loop(seed: int) -> None:
    instance = tiny_pool(seed, objectives=["value"])
    loop, joint = solve(instance, policy="sipam_loop"), solve(instance, options=QUICK)
    if loop.plan is None:
        return
    assert check(instance, loop.plan, starts=True) == []
    assert joint.plan is not None
    assert check(instance, joint.plan, starts=True) == []
    assert joint.objective is not None
    assert loop.objective is not None
    assert joint.objective >= loop.objective - 1e-9


@pytest.mark.slow
def test_the_choice_of_the_loop_is_always_a_candidate() -> None:
    instance = random_pool(64, 12, 0)
    problem, every = expand(instance), expand(instance, prune=False)
    for kept, listed in zip(problem.options, every.options, strict=True):
        mine = loop_rows(instance.cluster, kept.job, kept.candidates)
        theirs = loop_rows(instance.cluster, kept.job, listed.candidates)
        assert len(mine)
        assert kept.value[mine].max() == listed.value[theirs].max()


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


def limits(seconds: float) -> StepTwoLimits:
    return StepTwoLimits(time_limit_s=seconds, deterministic_limit=None, workers=1, seed=0)


@pytest.mark.parametrize("seed", range(30))
def test_first_fit_finds_nothing_that_the_exact_wiring_refutes(seed: int) -> None:
    rng = Random(seed)
    trays, port_units = rng.choice((1, 2, 3)), rng.choice((1, 2, 3))
    units = [[*range(rng.randint(0, 6))] for _ in range(trays)]
    ports = {rail: [[*range(rng.randint(0, 2))] for _ in range(trays)] for rail in range(rng.choice((1, 2, 3)))}
    rack = FreeServer(units, ports, (), {})
    number = rng.randint(1, 5)
    demand = PoolDemand(number, -(-number // port_units), 0, 0, 0)
    ranks = rng.randint(1, 3)
    exact = wire(rack, {0: Part(demand, ranks)}, port_units, limits(5.0))
    found = first_fit(rack, demand, ranks, [*ports], port_units)
    assert exact.found is not None or exact.is_impossible
    if exact.is_impossible:
        assert found is None
    for plugs in [found, *([exact.found[0].plugs] if exact.found is not None else [])]:
        if plugs is not None:
            assert [sum(size for *_, size in each) for each in plugs] == [number] * ranks
            assert all(len({rail for rail, *_ in each}) == len(each) == demand.memory_io for each in plugs)


@pytest.mark.slow
def test_a_resident_stays_or_moves_off_what_failed() -> None:
    instance = tiny_pool(3, objectives=["value"])
    before = solve(instance, options=OPTIONS)
    assert before.plan is not None
    running = before.plan.assignments[0]
    data: dict[str, Any] = instance.model_dump(mode="json")
    job = next(job for job in data["jobs"] if job["name"] == running.job)
    data["jobs"] = [other for other in data["jobs"] if other is not job]
    held = running.model_dump(mode="json", include={"devices", "configuration", "circuits", "memory"})
    data["residents"] = [job | held]
    stays = solve(Instance.parse(data), options=OPTIONS)
    assert stays.plan is not None
    assert stays.plan[running.job].memory == running.memory
    assert not stays.plan[running.job].is_moved
    assert stays.plan.switches is not None
    assert stays.plan.switches.before
    data["cluster"]["health"]["failed_memory_units"] = [running.memory[0].units[0]]
    moves = solve(Instance.parse(data), options=OPTIONS)
    if moves.plan is not None:
        assert moves.plan[running.job].is_moved
        assert check(Instance.parse(data), moves.plan, starts=True) == []
    data["residents"][0]["memory"] = data["residents"][0]["memory"][1:]
    with pytest.raises(InputError, match=r"needs \d+ units over \d+ memory circuits"):
        Instance.parse(data)


def test_where_memory_is_local_the_loop_is_best_fit() -> None:
    data = random_pool(32, 4, 0).model_dump(mode="json")
    data["cluster"]["fabric"] = {
        "kind": "fat_tree", "servers": 4, "gpus_per_server": 8, "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us",
        "nvlink_energy": "2 pJ/b", "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
    }  # fmt: skip
    loop, best_fit = (solve(Instance.parse(data), policy=name) for name in ("sipam_loop", "best_fit"))
    assert loop.plan == best_fit.plan


@pytest.mark.slow
def test_larger_pools_hold_no_less() -> None:
    values = []
    for units in (3, 6, 12):
        result = solve(random_pool(64, 8, 2, units=units), options=QUICK)
        values.append(result.objective or 0.0)
    assert all(b >= a * 0.999 for a, b in pairwise(values)), values


@pytest.mark.parametrize(
    ("changes", "accelerators", "missing"),
    [
        ({}, 1, "bandwidth is missing"),
        ({"units_per_port": 1}, 2, "ports are missing"),
        ({"units_per_tray": 1, "trays_per_server": 1}, 4, "capacity is missing"),
    ],
)
def test_a_job_without_a_division_is_told_what_is_missing(
    changes: dict[str, Any], accelerators: int, missing: str
) -> None:
    data = random_pool(32, 4, 0).model_dump(mode="json")
    data["cluster"]["fabric"] |= changes
    large = {"kind": "transformer_inference", "model": "llama-3.1-405b", "concurrency": 8, "input_tokens": 1024,
             "output_tokens": 128}  # fmt: skip
    data["jobs"] = [{"name": "large", "workload": large, "accelerators": accelerators}]
    result = solve(Instance.parse(data), options=QUICK)
    assert missing in result.left_out[0].reason


@pytest.mark.slow
def test_only_what_an_instance_expands_to_is_expanded_again_for_a_proof() -> None:
    problem, clock = expand(random_pool(32, 3, 2)), Clock.of(600.0)
    assert _is_as_listed(problem, clock)
    first, *others = problem.options
    fewer = replace(problem, options=(first.take(np.arange(len(first) - 1)), *others))
    revalued = replace(problem, options=(replace(first, value=0.5 * first.value), *others))
    assert not _is_as_listed(fewer, clock)
    assert not _is_as_listed(revalued, clock)
