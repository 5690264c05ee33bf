"""The shipped instance of two pools: what is better and why, told everywhere alike."""

import re
from typing import Any

import pytest

from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import candidates_of
from costmodel.pricing.score import score
from planner import Instance, check, solve
from planner.candidates.expand import list_options
from planner.candidates.serving_pools import binding_in_words, pools_in_words, what_binds
from planner.cli.tables.jobs_table import mapping, phase_lines
from planner.explain import explain
from planner.integrations.exports.groups import runs_of
from planner.model.result import Result, Status
from planner.report.jobs import job_rows
from tests.paths import ROOT

FILE = ROOT / "instances" / "serving" / "two_pools.yaml"


@pytest.fixture(scope="module")
def solved() -> tuple[Instance, Result]:
    instance = Instance.load(FILE)
    return instance, solve(instance, time_limit_s=20, seed=1)


def test_two_pools_win_for_long_prompts_and_lose_for_short_ones(solved: tuple[Instance, Result]) -> None:
    instance, result = solved
    assert result.plan is not None
    assert check(instance, result.plan) == []
    speed = {each.job: each.speed for each in result.plan.assignments}
    assert speed["documents-pools"] / speed["documents-together"] == pytest.approx(2.2, abs=0.1)
    assert speed["chat-pools"] / speed["chat-together"] == pytest.approx(0.85, abs=0.02)


def test_both_pools_and_what_goes_between_them_are_told(solved: tuple[Instance, Result]) -> None:
    instance, result = solved
    plan = result.plan
    assert plan is not None
    assignment, job = plan["documents-pools"], instance.job("documents-pools")
    c = assignment.configuration
    assert (c.prefill_tensor, c.tensor) == (4, 8)
    prompts, tokens, caches = pools_in_words(instance.cluster, job, assignment)
    assert re.fullmatch(r"prompts: 8 accelerators \(s\d: 0–7\), 2 replicas of 4", prompts)
    assert re.fullmatch(r"tokens: 8 accelerators \(s\d: 0–7\), 1 replica of 8", tokens)
    cache_bytes = 80 * 2 * 8 * 128 * 2 * 8192
    sent = f"{assignment.speed / 512 * cache_bytes / 1e9:.3g} GB/s"
    circuits = [each for held in assignment.circuits if held.dimension == "data" for each in held.circuits]
    forth = [each for each in circuits if each.source in assignment.devices[:8]]
    lit = sum(len(each.wavelengths) for each in forth)
    assert len(forth) == 16
    assert caches == f"caches: {sent}, over 16 circuits of 75 GB/s each way, which reserve {lit * 18.75:,.0f} GB/s"
    words = [prompts, tokens, caches]
    [row] = [row for row in job_rows(instance, result, {}) if row["name"] == job.name]
    assert row["plan"]["pools"] == words
    assert f"{job.name}: {'; '.join(words)}" in phase_lines(instance, plan)
    told = explain(instance, job.name, plan=plan, time_limit_s=5)
    assert any("; ".join(words) in statement.text for statement in told.statements)
    binds = binding_in_words(instance.cluster, job, assignment)
    assert binds.startswith("tokens bind: nobody waits")
    assert binds in [statement.text for statement in told.statements]
    assert not binding_in_words(instance.cluster, instance.job("chat-together"), plan["chat-together"])
    assert mapping(c) == "tp8 dp3, 2 of them prompts with tp4"
    assert not pools_in_words(instance.cluster, instance.job("chat-together"), plan["chat-together"])


def test_all_reduces_of_both_pools_are_exported(solved: tuple[Instance, Result]) -> None:
    instance, result = solved
    assert result.plan is not None
    limits = instance.cluster.fabric.limits
    assert limits is not None
    runs = {run.stem: run for run in runs_of(result.plan, limits) if run.job == "documents-pools"}
    assert {stem: [len(group) for group in run.groups] for stem, run in runs.items()} == {
        "documents-pools.tensor-prompts": [4, 4], "documents-pools.tensor": [8],
    }  # fmt: skip
    for run in runs.values():
        [held] = run.held
        assert {c.source for c in held.circuits} == {device for group in run.groups for device in group}


def test_a_plan_whose_prompts_have_other_circuits_is_refused(solved: tuple[Instance, Result]) -> None:
    instance, result = solved
    assert result.plan is not None
    for change in ("width", "circuit"):
        text = result.plan.model_dump()
        [mine] = [each for each in text["assignments"] if each["job"] == "documents-pools"]
        if change == "width":
            mine["configuration"]["tensor_collective"]["prefill"]["wavelengths"] = [8]
        else:
            [held] = [each for each in mine["circuits"] if each["dimension"] == "tensor"]
            held["circuits"] = held["circuits"][1:]
        assert "circuits" in {each.rule for each in check(instance, type(result.plan).model_validate(text))}


CACHES = {
    "torus": "over links of its slice, of which each rank has 100 GB/s at least",
    "sipac": "over links of its slice, of which each rank has 33.3 GB/s at least",
    "sipam": "over 12 circuits of 2,000 GB/s each way, which reserve 24,000 GB/s",
    "memory_ring": "over the network, where a rank has 50 GB/s",
}


@pytest.mark.parametrize("kind", CACHES)
def test_on_every_fabric_two_pools_pay_for_long_prompts_alone(kind: str) -> None:
    instance = Instance.load(FILE.with_name(f"two_pools_{kind}.yaml"))
    result = solve(instance, time_limit_s=60, seed=1)
    assert result.plan is not None
    assert all(level.status is Status.OPTIMAL for level in result.levels)
    assert check(instance, result.plan) == []
    speed = {each.job: each.speed for each in result.plan.assignments}
    assert speed["documents-pools"] > 1.2 * speed["documents-together"]
    assert speed["chat-pools"] < speed["chat-together"]
    told = pools_in_words(instance.cluster, instance.job("documents-pools"), result.plan["documents-pools"])
    assert told[-1].endswith(CACHES[kind])


def service(users: int, input_tokens: int, output_tokens: int, size: int = 8, **changed: str) -> Instance:
    """Half of its accelerators run prompts, half tokens; the network between two servers, or what is said of it."""
    fabric = {
        "kind": "fat_tree", "servers": 2, "gpus_per_server": 8, "nvlink_bandwidth": "450 GB/s", "nvlink_alpha": "1 us",
        "nvlink_energy": "5 pJ/b", "network_bandwidth": "50 GB/s", "network_alpha": "5 us", "network_energy": "20 pJ/b",
    }  # fmt: skip
    pools = {"disaggregated": True} | dict.fromkeys(
        ("prefill_accelerators", "prefill_tensor", "decode_tensor"), size // 2
    )
    asked = {"concurrency": users, "input_tokens": input_tokens, "output_tokens": output_tokens}
    workload = {"kind": "transformer_inference", "model": "llama-3.1-70b", "precision": "fp8", **asked, **pools}
    cluster = {"device": "h100-sxm", "fabric": fabric | changed}
    job = {"name": "a", "workload": workload, "accelerators": size}
    return Instance.parse({"schema_version": 2, "name": "service", "cluster": cluster, "jobs": [job]})


def faster(instance: Instance, configuration: Configuration, **device: Any) -> float:
    """By which share more a configuration serves on accelerators that are changed so."""
    cluster, workload = instance.cluster, instance.job("a").workload
    speeds = []
    for own in (cluster.device, cluster.device.model_copy(update=device)):
        rows = candidates_of([configuration], workload, own, cluster.fabric)
        speeds.append(float(score(rows, own, cluster.fabric).speed[0]))
    return speeds[1] / speeds[0] - 1


@pytest.mark.parametrize(
    ("asked", "binds", "processors", "room", "bandwidth"),
    [
        ((64, 8192, 32), "prompts", (0.08, 0.2), (0, 0), (0, 0.05)),
        ((512, 2048, 1024), "memory", (0, 0.04), (0.03, 0.2), (0.05, 0.2)),
        ((8, 256, 1024), "tokens", (0, 0.02), (0, 0), (0.08, 0.2)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_said_to_bind_is_what_serves_more_when_there_is_more_of_it(
    asked: tuple[int, int, int], binds: str, processors: tuple[float, float], room: tuple[float, float],
    bandwidth: tuple[float, float],
) -> None:  # fmt: skip
    """A fifth more of processors, which prompts need, of memory, and of its bandwidth, which tokens need. Where memory
    binds, faster tokens free it sooner."""
    instance = service(*asked)
    configuration = list_options(instance, instance.job("a")).candidates.configuration(0)
    found = what_binds(instance.cluster, instance.job("a").workload, configuration)
    assert found.resource == binds
    device = instance.cluster.device
    more = [
        {"flops_per_s": {name: 1.2 * rate for name, rate in device.flops_per_s.items()}},
        {"capacity_bytes": 1.2 * device.capacity_bytes},
        {"memory_bytes_per_s": 1.2 * device.memory_bytes_per_s},
    ]
    for change, (least, most) in zip(more, (processors, room, bandwidth), strict=True):
        assert least - 1e-9 <= faster(instance, configuration, **change) <= most + 1e-9, change


def test_a_slow_network_between_the_pools_binds() -> None:
    slow, less_slow = (service(64, 8192, 32, size=16, network_bandwidth=rate) for rate in ("0.2 GB/s", "0.4 GB/s"))
    found, speeds = [], []
    for instance in (slow, less_slow):
        candidates = list_options(instance, instance.job("a")).candidates
        found.append(what_binds(instance.cluster, instance.job("a").workload, candidates.configuration(0)))
        speeds.append(float(score(candidates, instance.cluster.device, instance.cluster.fabric).speed[0]))
    assert [each.resource for each in found] == ["caches", "caches"]
    assert speeds[1] / speeds[0] == pytest.approx(2, rel=0.1)
