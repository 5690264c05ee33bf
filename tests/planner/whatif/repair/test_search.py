"""Repairs that keep every configuration, after the loss of each kind of part."""

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
