"""The shipped ring of servers: light crosses servers that others hold, and goes around a failed laser."""

import pytest

from planner.checks import check
from planner.model.edit import with_fabric
from planner.model.instance import Instance
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from tests.paths import ROOT

RING6 = ROOT / "instances" / "lumorph" / "ring6.yaml"
OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=30.0)


@pytest.mark.slow
def test_a_job_lies_on_both_sides_of_servers_that_others_hold() -> None:
    instance = Instance.load(RING6)
    result = solve(instance, options=OPTIONS)
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    circuits = [c for a in result.plan.assignments for held in a.circuits for c in held.circuits]
    assert max(len(c.fibers) for c in circuits) == 2
    assert all(7 not in c.wavelengths for c in circuits if c.source == "s2.t0")
    assert len(result.plan["train"].devices) == 12


@pytest.mark.slow
def test_without_transit_it_must_be_smaller() -> None:
    """Twelve ranks in one ring need three servers, and of those that are not held only pairs are neighbours."""
    instance = with_fabric(Instance.load(RING6), transit=0)
    plan = solve(instance, options=SolveOptions(workers=1, time_limit_s=2.0)).plan
    assert plan is not None
    assert check(instance, plan, starts=True) == []
    assert [len(a.devices) for a in plan.assignments if a.job == "train"] in ([], [8])
