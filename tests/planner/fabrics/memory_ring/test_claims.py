"""DIMMs of shared nodes as claims: counted by node, within what a node has."""

import pytest

from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.fabrics import plugin_of
from planner.model.errors import InputError
from planner.model.instance import Instance
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


def test_a_job_is_placed_where_its_nodes_work() -> None:
    """Nodes 1 and 2 are beside the only other slot for 4 DIMMs on either side: without one of them a job is shed."""
    asked, plan = shared()
    fabric = asked.cluster.fabric
    assert list(plugin_of(fabric).claims.relied_on(fabric, plan["b"])) == ["s0.n0", "s0.n3"]
    found = repair(asked, plan, ["s0.n3"], limits=LIMITS)
    assert found.plan is not None
    assert check(found.instance, found.plan) == []
    held = {name for each in found.plan.assignments for name in plugin_of(fabric).claims.relied_on(fabric, each)}
    assert "s0.n3" not in held
    assert check(found.instance, plan) != []


def test_nodes_of_fixed_halves_do_not_fail() -> None:
    apart = instance(job("a", 1), shared_nodes=False)
    fields = apart.model_dump(mode="json", by_alias=True)
    fields["cluster"]["health"] = {"failed_memory_nodes": ["s0.n1"]}
    with pytest.raises(InputError, match=r"give fabric\.shared_nodes: true"):
        Instance.parse(fields, "apart")


@pytest.mark.parametrize("seed", [9, 16, 37, 71, 75])
def test_repaired_plans_hold_no_more_than_nodes_have(seed: int) -> None:
    """Of these some rank that moved alone would take DIMMs that another one of its job holds."""
    asked = tiny_nodes(seed, objectives=["value"])
    plan = solve(asked, options=OPTIONS).plan
    assert plan is not None
    for device in sorted({device for each in plan.assignments for device in each.devices}):
        found = repair(asked, plan, [device], limits=LIMITS)
        assert found.plan is None or check(found.instance, found.plan) == []
