"""Pools of modules: a plan that holds more of one than it has is told."""

from collections import Counter

from planner.checks import check
from planner.fabrics.lightpath.rule_memory_pool import check_memory_pool
from planner.pipeline import solve
from tests.planner.fabrics.lightpath.pools import large, pooled
from tests.planner.optimum import OPTIONS

JOBS = [large(name) for name in "abc"]


def test_modules_of_a_smaller_pool_are_too_few() -> None:
    """Three jobs in two servers: in one of them two modules are held at least."""
    plan = solve(pooled(*JOBS), options=OPTIONS).plan
    assert plan is not None
    assert check(pooled(*JOBS), plan) == []
    held = Counter[str]()
    for assignment in plan.assignments:
        held[assignment.devices[0][:2]] += assignment.configuration.memory_units or 0
    smaller = pooled(*JOBS, modules=1)
    found = {each.where: each.excess for each in check_memory_pool(smaller, plan)}
    assert found == {server: number - 1.0 for server, number in held.items() if number > 1}
    assert found
    assert "memory_pool" in {each.rule for each in check(smaller, plan)}


def test_modules_of_each_tile_are_no_pool() -> None:
    asked = pooled(*JOBS)
    fabric = asked.cluster.fabric
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    own = fabric.memory.model_copy(update={"shared": False, "units": 1})  # type: ignore[attr-defined]
    cluster = asked.cluster.model_copy(update={"fabric": fabric.model_copy(update={"memory": own})})
    assert list(check_memory_pool(asked.model_copy(update={"cluster": cluster}), plan)) == []
