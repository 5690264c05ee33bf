"""Repairs in racks with pooled memory: other units, ports and rails for the jobs that lost some, and a checked plan."""

import pytest

from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from planner.whatif.repair import repair
from planner.whatif.single_failures import single_failures
from tests.benchmarks.random_pools import random_pool

Pool = tuple[Instance, Plan]


@pytest.fixture(scope="module", params=[0, 1])
def pool(request: pytest.FixtureRequest) -> Pool:
    instance = random_pool(64, 5, seed=request.param, units=6)
    plan = solve(instance, options=SolveOptions(time_limit_s=5, workers=1)).plan
    assert plan is not None
    return instance, plan


@pytest.mark.slow
def test_every_kind_of_part_can_fail_and_the_plan_is_checked(pool: Pool) -> None:
    instance, plan = pool
    failures = {failure.kind: failure.name for failure in single_failures(instance, plan)}
    assert {"tile", "memory unit", "tray port", "switch"} <= failures.keys()
    for name in failures.values():
        found = repair(instance, plan, [name], limits=RepairLimits(time_limit_s=1.0))
        if found.plan is not None:
            assert check(found.instance, found.plan) == [], name


def test_failures_of_parts_go_job_by_job(pool: Pool) -> None:
    instance, plan = pool
    for jobs in (plan.assignments, plan.assignments[::-1]):
        reordered = plan.model_copy(update={"assignments": jobs})
        units = [{unit for plug in job.memory for unit in plug.units} for job in jobs]
        tried = [f.name for f in single_failures(instance, reordered) if f.kind == "memory unit"]
        owners = [next(number for number, owned in enumerate(units) if name in owned) for name in tried]
        assert owners == sorted(owners)
        assert owners


@pytest.mark.slow
def test_a_unit_is_replaced_where_there_is_a_free_one(pool: Pool) -> None:
    instance, plan = pool
    job = min((a for a in plan.assignments if a.memory), key=lambda a: len(a.memory))
    tray = job.memory[0].units[0].rpartition(".")[0]
    used = {unit for a in plan.assignments for plug in a.memory for unit in plug.units}
    free = {f"{tray}.u{i}" for i in range(instance.cluster.fabric.units_per_tray)} - used  # type: ignore[union-attr]
    found = repair(instance, plan, [job.memory[0].units[0]], limits=RepairLimits(time_limit_s=600.0))
    assert found.plan is not None
    if free:
        assert found.outcome == "repaired"
        assert found.moves == ()
        assert found.changed_circuits > 0
    lost = {failure.name for failure in found.failures}
    assert not lost & {unit for a in found.plan.assignments for plug in a.memory for unit in plug.units}
    untouched = [a for a in plan.assignments if not lost & {u for plug in a.memory for u in plug.units}]
    if found.outcome == "repaired":
        assert all(found.plan[a.job] == a for a in untouched)


def test_an_unused_uplink_is_no_loss(pool: Pool) -> None:
    instance, plan = pool
    used = {name for a in plan.assignments for held in a.circuits for c in held.circuits for name in c.fibers}
    every = (f"s{server}.q{rail}#{i}" for server in range(2) for rail in range(8, 12) for i in range(8))
    uplink = next(name for name in every if name not in used)
    found = repair(instance, plan, [uplink])
    assert found.outcome == "intact"
    assert found.plan is not None
    assert found.plan.assignments == plan.assignments
