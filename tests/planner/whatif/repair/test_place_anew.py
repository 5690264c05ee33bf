"""Jobs that lost a cube or a switch are placed anew, whole."""

from planner.checks import check
from planner.pipeline import solve
from planner.whatif.failures import damaged, parse_failures
from planner.whatif.repair import repair
from planner.whatif.repair.damaged_plan import DamagedPlan
from tests.planner.fabrics.slices.clusters import CUBES, OPTIONS, job, sliced


def test_a_cube_that_fails_is_replaced_and_the_others_stay() -> None:
    instance = sliced(CUBES | {"servers": 4, "switches": {"ports": 8, "energy": 0}}, job("a", 16))
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    lost = plan["a"].devices[0]
    found = repair(instance, plan, [lost])
    assert found.plan is not None
    assert check(found.instance, found.plan) == []
    assert len(found.moves) == 8


def test_a_failed_switch_touches_the_jobs_whose_circuits_it_carries() -> None:
    instance = sliced(CUBES, job("a", 8), job("b", 2))
    plan = solve(instance, options=OPTIONS).plan
    assert plan is not None
    down = damaged(instance, parse_failures(instance.cluster, ["x3"]))
    wreck = DamagedPlan(down, plan)
    used = {a.job for a in plan.assignments for held in a.circuits for c in held.circuits if "x3" in c.fibers}
    assert "a" in used
    assert wreck.touched == used
    assert wreck.least_changes == sum(
        "x3" in c.fibers for a in plan.assignments for held in a.circuits for c in held.circuits
    )
