"""Rails beyond the solver: switch numbers, residents, repair, what more hardware adds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.pricing.candidates import enumerate_candidates
from planner.checks import check
from planner.cpsat.repair import RepairLimits
from planner.explain import explain
from planner.explain.marginal import marginal
from planner.fabrics.demand import shape_of
from planner.fabrics.ocs_rail.rails import FreeRails
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import SolveOptions, Status
from planner.pipeline import solve
from planner.whatif.failures import parse_failures
from planner.whatif.reconfigure import reconfigure
from planner.whatif.repair import repair
from planner.whatif.single_failures import single_failures
from tests.paths import ROOT
from tests.planner.checks.plans import TRAINING, job
from tests.planner.fabrics.ocs_rail.test_rule_rails import rails, ring
from tests.planner.fabrics.ocs_rail.test_step2 import instance_of

INSTANCES = ROOT / "instances" / "ocs_rail"
LIMITS = RepairLimits(time_limit_s=5.0, workers=1)


@pytest.mark.slow
@given(st.sampled_from([2, 3, 4, 6, 8]), st.integers(0, 10**6), st.sets(st.integers(0, 3), max_size=2))
def test_circuits_of_any_configuration_are_matchings(devices: int, pick: int, dead: set[int]) -> None:
    """Every rank sends and receives at most once on each working switch, and so Koenig's theorem agrees."""
    health = {"failed_switches": [f"q2#{i}" for i in sorted(dead)]}
    instance = instance_of([job("any", devices)], health=health, servers=8, switches=4, ports=8)
    cluster, workload = instance.cluster, instance.jobs[0].workload
    rows = enumerate_candidates(workload, [devices], cluster.device, cluster.fabric)
    shapes = [shape_of(rows, row, cluster.fabric) for row in range(len(rows))]
    fitting = [shape for shape in shapes if 0 < shape.num_ports <= 4 - len(dead) and shape.block == 1]
    shape = fitting[pick % len(fitting)]
    held = FreeRails(cluster).circuits(shape, [(server, 2) for server in range(devices)])
    links = np.zeros((8, 8), dtype=np.int64)
    ends = set()
    for circuit in (circuit for each in held for circuit in each.circuits):
        a, b = cluster.fabric.parse_device(circuit.source)[0], cluster.fabric.parse_device(circuit.destination)[0]
        links[a, b] += len(circuit.wavelengths)
        assert not dead.intersection(circuit.wavelengths)
        for number in circuit.wavelengths:
            assert not {("from", a, number), ("to", b, number)} & ends
            ends |= {("from", a, number), ("to", b, number)}
    assert max(links.sum(axis=0).max(), links.sum(axis=1).max()) == shape.num_ports
    assert cluster.fabric.matchings(links).shape == (4, 8)


def resident(**changes: Any) -> dict[str, Any]:
    _, plan = ring()
    return {**job("ring", 3), **plan["ring"].model_dump(include={"devices", "configuration", "circuits"}), **changes}


def test_a_resident_stays() -> None:
    instance = rails(job("new", 2), residents=[resident(movable=False)])
    result = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0))
    assert result.status is Status.OPTIMAL
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert not result.plan["ring"].is_moved


@pytest.mark.parametrize("failed", [{"failed_switches": ["q1#1"]}, {"failed_tiles": ["s3.g1"]}])
def test_a_displaced_resident_moves(failed: dict[str, Any]) -> None:
    instance = rails(residents=[resident()], health=failed)
    result = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0))
    assert result.plan is not None
    assert check(instance, result.plan, starts=True) == []
    assert result.plan["ring"].is_moved


def test_residents_that_cannot_be_running_are_refused() -> None:
    def refused(message: str, **changes: Any) -> None:
        with pytest.raises(InputError, match=message):
            rails(residents=[resident(**changes)])

    circuits = resident()["circuits"]
    first, second, third = circuits[0]["circuits"]
    wrong = [{"dimension": "data", "circuits": [first, second, third | {"wavelengths": (0, 3)}]}]
    refused("switches of a rail are 0 to 2", circuits=wrong)
    refused("these are not the circuits", circuits=[])
    elsewhere = ["s0.g1", "s1.g1", "s3.g0"]
    refused("does not join two servers in one slot", devices=elsewhere, circuits=_moved(circuits, "s3.g0"))
    with pytest.raises(InputError, match=r"on failed part q1#0 and may not move"):
        rails(residents=[resident(movable=False)], health={"failed_switches": ["q1#0"]})
    with pytest.raises(InputError, match="switches are q0#0 to q2#2"):
        rails(job("new", 2), health={"failed_switches": ["q3#0"]})


def _moved(circuits: Any, name: str) -> Any:
    moved = [{k: name if end == "s3.g1" else end for k, end in each.items()} for each in circuits[0]["circuits"]]
    return [{"dimension": "data", "circuits": moved}]


def test_fragmentation_has_no_measure_here() -> None:
    assert [o.name for o in rails(job("new", 2)).objectives] == ["value", "moves", "energy"]
    with pytest.raises(InputError, match="fragmentation is not defined on a ocs_rail; leave it out"):
        instance_of([job("new", 2)], objectives=("value", "fragmentation"))


def solved() -> tuple[Instance, Plan]:
    jobs = [{"name": name, "workload": TRAINING, "accelerators": n} for name, n in (("a", 4), ("b", 3), ("c", 2))]
    instance = instance_of(jobs)
    result = solve(instance, options=SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=10.0))
    assert result.plan is not None
    return instance, result.plan


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


def test_switches_fail_by_name() -> None:
    instance, _ = solved()
    assert [f.kind for f in parse_failures(instance.cluster, ["q1#2", "s0.g0"])] == ["switch", "tile"]


def test_reconfiguration_keeps_what_does_not_change() -> None:
    instance, plan = solved()
    done = reconfigure(instance, plan, plan)
    assert done.changed == 0
    assert done.is_proven


def test_what_more_hardware_adds() -> None:
    instance = instance_of([job(name, 6) for name in "abc"], health={"failed_switches": ["q0#0"]})
    gains = {m.change: m.gain for m in marginal(instance, options=SolveOptions(workers=1, deterministic_limit=5.0))}
    assert set(gains) == {"one more switch on each rail", "twice the bandwidth of a port", "repair of q0#0"}
    assert all(gain is not None and gain >= 0 for gain in gains.values())


def test_devices_that_share_no_rail_are_of_no_use_together() -> None:
    health = {"failed_tiles": ["s0.g0", "s1.g1"]}
    instance = instance_of([job("pair", 2)], servers=2, gpus_per_server=2, health=health)
    told = explain(instance, "pair", options=SolveOptions(workers=1, deterministic_limit=5.0))
    assert told.tag == "impossible alone"
    assert told.statements[0].text == "with 2 accelerators: needs 1 rail free on the same 2 servers"


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
