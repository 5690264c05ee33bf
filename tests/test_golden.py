"""The rack that the README solves by hand: plan, wavelengths, bound and every level, for every part of the line."""

import json
from pathlib import Path

import pytest

from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from planner.checks import check, objective_values
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.result import Result, SolveOptions, Status
from planner.pipeline import solve
from planner.policies import POLICIES
from planner.report import report_html

PATH = Path(__file__).resolve().parents[1] / "instances" / "lumorph" / "golden.yaml"
OPTIONS = SolveOptions(time_limit_s=600.0, workers=1, deterministic_limit=20.0)
BY_HAND = {"value": 4.0, "moves": 0.0, "energy": 4.0, "fragmentation": 0.0}


@pytest.fixture(scope="module")
def golden() -> Instance:
    return Instance.load(PATH)


@pytest.fixture(scope="module")
def optimum(golden: Instance) -> Result:
    return solve(golden, options=OPTIONS)


def circuits_by_hand(plan: Plan) -> set[tuple[int, int, str]]:
    """(source rank, destination rank, fibers) of the ring of job four."""
    four = plan["four"]
    rank = {device: i for i, device in enumerate(four.devices)}
    (held,) = four.circuits
    assert held.dimension == "data"
    assert all(circuit.wavelengths == (0, 1, 2, 3) for circuit in held.circuits)
    return {(rank[c.source], rank[c.destination], ",".join(c.fibers)) for c in held.circuits}


def test_every_level_is_as_derived_by_hand(golden: Instance, optimum: Result) -> None:
    assert optimum.status is Status.OPTIMAL
    assert (optimum.objective, optimum.bound, optimum.gap) == (4.0, 4.0, 0.0)
    assert optimum.plan is not None
    assert {level.objective: level.value for level in optimum.levels} == pytest.approx(BY_HAND)
    assert {level.objective: level.bound for level in optimum.levels} == pytest.approx(BY_HAND)
    assert objective_values(golden, optimum.plan) == pytest.approx(BY_HAND)
    assert optimum.plan.admitted == ("four",)
    assert [left.job for left in optimum.left_out] == ["three"]


def test_the_ring_crosses_once_each_way_on_all_wavelengths(optimum: Result) -> None:
    assert optimum.plan is not None
    found = circuits_by_hand(optimum.plan)
    assert {(source, destination) for source, destination, _ in found} == {(0, 1), (1, 2), (2, 3), (3, 0)}
    assert sorted(fibers for *_, fibers in found if fibers) == ["s0>s1#0", "s1>s0#0"]
    servers = [device.split(".")[0] for device in optimum.plan["four"].devices]
    assert sorted(servers.count(server) for server in set(servers)) == [1, 3]


def test_the_fastest_candidate_is_the_full_ring_and_the_most_frugal(golden: Instance) -> None:
    """Data time by hand: 6 x 0.7 us for each 40 million parameters + 2 x 3/4 of 3 bytes for each at 300 GB/s."""
    job, cluster = golden.job("four"), golden.cluster
    candidates = enumerate_candidates(
        job.workload, job.sizes, cluster.device, cluster.fabric, collective=job.constraints.collective
    )
    scores = score(candidates, cluster.device, cluster.fabric)
    best = int(scores.speed.argmax())
    configuration = candidates.configuration(best)
    assert (configuration.data, configuration.data_collective.wavelengths) == (4, (4,))
    parameters = job.workload.shape.num_parameters
    by_hand_s = parameters / 40e6 * 6 * 0.7e-6 + 2 * 3 / 4 * 3 * parameters / 300e9
    assert scores.communication_s[2, best] == pytest.approx(by_hand_s, rel=1e-4)
    assert by_hand_s == pytest.approx(5.03e-3, rel=0.01)
    assert int(scores.energy_per_work_j.argmin()) == best


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_plans_it_and_none_beats_the_bound(golden: Instance, policy: str) -> None:
    result = solve(golden, policy=policy, options=OPTIONS)
    assert result.plan is not None
    assert check(golden, result.plan) == []
    assert result.objective is not None
    assert result.objective <= 4.0


@pytest.mark.parametrize("wavelengths", [(0, 1, 2), (0, 1, 2, 4)])
def test_the_check_refuses_other_wavelengths(golden: Instance, optimum: Result, wavelengths: tuple[int, ...]) -> None:
    assert optimum.plan is not None
    data = json.loads(optimum.plan.model_dump_json())
    data["assignments"][0]["circuits"][0]["circuits"][0]["wavelengths"] = wavelengths
    assert check(golden, Plan.model_validate(data))


def test_splitting_two_and_two_would_fragment(golden: Instance, optimum: Result) -> None:
    """One free device on each side and no dark fiber: half of the size distribution no longer fits."""
    assert optimum.plan is not None
    data = json.loads(optimum.plan.model_dump_json())
    moved = {"s0.t0": "s0.t0", "s0.t1": "s0.t1", "s0.t2": "s1.t1", "s1.t0": "s1.t0"}
    four = data["assignments"][0]
    four["devices"] = [moved[device] for device in four["devices"]]
    for circuit in four["circuits"][0]["circuits"]:
        circuit["from"], circuit["to"] = moved[circuit["from"]], moved[circuit["to"]]
        ends = circuit["from"][:2], circuit["to"][:2]
        circuit["fibers"] = [] if ends[0] == ends[1] else [f"{ends[0]}>{ends[1]}#0"]
    data["objectives"]["fragmentation"] = 0.5
    plan = Plan.model_validate(data)
    assert check(golden, plan) == []
    assert objective_values(golden, plan)["fragmentation"] == pytest.approx(0.5)


def test_the_report_names_what_the_plan_says(golden: Instance, optimum: Result) -> None:
    page = report_html(golden, optimum, [], command="planner solve golden.yaml", versions={"photonplan": "0"})
    for text in ("golden", "four", "three", "s0\\u003es1#0"):
        assert text in page or text.replace("\\u003e", ">") in page
