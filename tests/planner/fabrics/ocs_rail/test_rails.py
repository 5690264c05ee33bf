"""Rails beyond the solver: switch numbers, residents, repair, what more hardware adds."""

import pytest

from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from planner.whatif.reconfigure import reconfigure
from planner.whatif.repair import repair
from planner.whatif.single_failures import single_failures
from tests.paths import ROOT
from tests.planner.checks.plans import TRAINING, job
from tests.planner.fabrics.ocs_rail.rails_cases import solved
from tests.planner.fabrics.ocs_rail.rule_rails_cases import rails
from tests.planner.fabrics.ocs_rail.step2_cases import instance_of

INSTANCES = ROOT / "instances" / "ocs_rail"
LIMITS = RepairLimits(time_limit_s=5.0, workers=1)


def test_fragmentation_has_no_measure_here() -> None:
    assert [o.name for o in rails(job("new", 2)).objectives] == ["value", "moves", "energy"]
    with pytest.raises(InputError, match="fragmentation is not defined on a ocs_rail; leave it out"):
        instance_of([job("new", 2)], objectives=("value", "fragmentation"))


@pytest.mark.slow
@pytest.mark.parametrize("index", range(4))
def test_repair(index: int) -> None:
    instance, plan = solved()
    failures = single_failures(instance, plan)
    assert {failure.kind for failure in failures} <= {"tile", "switch"}
    failure = failures[index * (len(failures) - 1) // 3]
    done = repair(instance, plan, [failure.name], limits=LIMITS)
    assert done.outcome == "repaired"
    assert done.plan is not None
    assert check(done.instance, done.plan) == []
    touched = {move.job for move in done.moves}
    if failure.kind == "tile":
        owner = next(a.job for a in plan.assignments if failure.part in a.devices)
        assert owner in touched
    assert done.transition is not None
    assert done.transition.time_s <= 0.0201 * len(done.transition.stages)


def test_a_repair_that_cannot_be_is_proven_impossible() -> None:
    """All servers full: one job gives way."""
    jobs = [{"name": name, "workload": TRAINING, "accelerators": 3} for name in "ab"]
    instance = instance_of(jobs, servers=2, gpus_per_server=3)
    plan = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0)).plan
    assert plan is not None
    done = repair(instance, plan, [plan["a"].devices[0]], limits=LIMITS)
    assert (done.outcome, done.is_impossible) == ("reduced", True)
    assert done.plan is not None
    assert check(done.instance, done.plan) == []


def test_reconfiguration_keeps_what_does_not_change() -> None:
    instance, plan = solved()
    done = reconfigure(instance, plan, plan)
    assert done.changed == 0
    assert done.is_proven


@pytest.mark.parametrize(
    "policy", ["first_fit", "best_fit", "server_aligned", "random_fit", "torus_slices", "bcube_slices"]
)
def test_every_heuristic_obeys_the_rules(policy: str) -> None:
    jobs = [job(f"job{i}", size) for i, size in enumerate((1, 2, 3, 4, 2, 1))]
    health = {"failed_ports": ["s1.g1"], "failed_tiles": ["s2.g0"], "failed_switches": ["q2#0"]}
    instance = instance_of(jobs, health=health)
    result = solve(instance, policy=policy, options=SolveOptions(time_limit_s=2.0))
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []


@pytest.mark.slow
def test_the_small_rack_is_solved_to_the_optimum() -> None:
    instance = Instance.load(INSTANCES / "rails64.yaml")
    result = solve(instance, options=SolveOptions(time_limit_s=600.0))
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []


@pytest.mark.slow
def test_the_large_cluster_has_a_plan_near_the_bound_at_once() -> None:
    instance = Instance.load(INSTANCES / "rails256.yaml")
    result = solve(instance, options=SolveOptions(time_limit_s=3.0))
    assert result.plan is not None
    assert result.levels[0].gap is not None
    assert result.levels[0].gap <= 0.01
    assert check(instance, result.plan, starts=True) == []
