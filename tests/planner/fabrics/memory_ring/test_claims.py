"""DIMMs of shared nodes as claims: counted by node, within what a node has."""

import pytest

from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.fabrics import plugin_of
from planner.pipeline import solve
from planner.whatif.repair import repair
from tests.oracles.tiny_nodes import tiny_nodes
from tests.planner.fabrics.memory_ring.ring_cases import instance, job, shared
from tests.planner.optimum import OPTIONS

LIMITS = RepairLimits(deterministic=20.0, workers=1)


def test_each_rank_counts_dimms_of_both_its_nodes() -> None:
    asked, plan = shared()
    fabric = asked.cluster.fabric
    claims = plugin_of(fabric).claims
    counted = claims.counted(fabric, plan["b"])
    assert plan["b"].devices == ("s0.d0",)
    assert counted == {"DIMMs of s0.n0": 4, "DIMMs of s0.n3": 4}
    assert set(counted) < set(claims.capacity(asked.cluster))


def test_nothing_is_counted_where_each_device_has_its_half() -> None:
    _, plan = shared()
    apart = instance(job("a", 1), shared_nodes=False)
    claims = plugin_of(apart.cluster.fabric).claims
    assert claims.counted(apart.cluster.fabric, plan["b"]) == {}
    assert claims.capacity(apart.cluster) == {}


@pytest.mark.parametrize("seed", [9, 16, 37, 71, 75])
def test_repaired_plans_hold_no_more_than_nodes_have(seed: int) -> None:
    """Of these some rank that moved alone would take DIMMs that another one of its job holds."""
    asked = tiny_nodes(seed, objectives=["value"])
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    for device in sorted({device for each in plan.assignments for device in each.devices}):
        found = repair(asked, plan, [device], limits=LIMITS)
        assert found.plan is None or check(found.instance, found.plan) == []
