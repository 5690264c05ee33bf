"""A plan that takes more DIMMs of a memory node than it has breaks the rule."""

from planner.checks import check
from planner.model.plan import Plan
from tests.planner.fabrics.memory_ring.ring_cases import shared


def test_the_plan_of_the_solver_keeps_the_rule() -> None:
    asked, plan = shared()
    assert check(asked, plan, starts=True) == []


def test_neighbours_share_the_node_between_them() -> None:
    """Each has 4 DIMMs on either side: 4 of node 0 and of node 3 the one, of node 1 and of node 0 the other."""
    asked, plan = shared()
    data = plan.model_dump(mode="json")
    for assignment, device in zip(data["assignments"], ("s0.d0", "s0.d1"), strict=True):
        assignment["devices"] = [device]
    found = [violation for violation in check(asked, Plan.model_validate(data)) if violation.rule == "memory_nodes"]
    assert [(each.where, each.excess) for each in found] == [("s0.n0", 4.0)]
    assert found[0].message == "s0.n0: 8 DIMMs of the memory node are held, it has 4"


def test_a_node_that_failed_has_no_dimms() -> None:
    asked, plan = shared()
    health = asked.cluster.health.model_copy(update={"failed_memory_nodes": ("s0.n3",)})
    broken = asked.model_copy(update={"cluster": asked.cluster.model_copy(update={"health": health})})
    found = [violation for violation in check(broken, plan) if violation.rule == "memory_nodes"]
    assert [(each.where, each.excess) for each in found] == [("s0.n3", 4.0)]
    assert found[0].message == "s0.n3: 4 DIMMs of the memory node are held, it has failed"


def test_the_first_device_is_beside_the_last_node() -> None:
    asked, plan = shared()
    data = plan.model_dump(mode="json")
    for assignment, device in zip(data["assignments"], ("s0.d0", "s0.d3"), strict=True):
        assignment["devices"] = [device]
    rules = {violation.rule for violation in check(asked, Plan.model_validate(data))}
    assert rules == {"memory_nodes"}
