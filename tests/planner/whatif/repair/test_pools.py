"""Repairs in racks with pooled memory: other units, ports and rails for the jobs that lost some, and a checked plan."""

import pytest

from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.whatif.repair import repair
from planner.whatif.single_failures import single_failures
from tests.planner.whatif.repair.pools_cases import Pool


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


def test_an_unused_uplink_is_no_loss(pool: Pool) -> None:
    instance, plan = pool
    used = {name for a in plan.assignments for held in a.circuits for c in held.circuits for name in c.fibers}
    every = (f"s{server}.q{rail}#{i}" for server in range(2) for rail in range(8, 12) for i in range(8))
    uplink = next(name for name in every if name not in used)
    found = repair(instance, plan, [uplink])
    assert found.outcome == "intact"
    assert found.plan is not None
    assert found.plan.assignments == plan.assignments
