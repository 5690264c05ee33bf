"""Shared by the tests of `circuit_names`, `rails`, `residents`, `shortages` and `upgrades`."""

from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions
from planner.pipeline import solve
from tests.planner.checks.plans import TRAINING
from tests.planner.fabrics.ocs_rail.step2_cases import instance_of


def solved() -> tuple[Instance, Plan]:
    jobs = [{"name": name, "workload": TRAINING, "accelerators": n} for name, n in (("a", 4), ("b", 3), ("c", 2))]
    instance = instance_of(jobs)
    result = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0))
    assert result.plan is not None
    return instance, result.plan
