"""planner score --workload: the best mappings of a model, without an instance."""

import json
from pathlib import Path
from typing import Any

import pytest

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.systems import system_of
from tests.planner.cli.commands.score_cases import LLAMA
from tests.planner.cli.conftest import Planner, fields, written


@pytest.mark.slow
def test_front_and_roofline_are_drawn(planner: Planner, tmp_path: Path) -> None:
    image = tmp_path / "search.png"
    assert planner(*LLAMA, "--plot", image).code == 0
    assert image.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--workload", "gpt3-1x"), "did you mean gpt3-1t"),
        (("--workload", "dlrm-dcn"), "did you mean dlrm-dcnv2"),
        (("--workload", "gpt3-1t", "--device", "h1000"), "did you mean h100-sxm"),
        (("--workload", "gpt3-1t", "--devices", "8"), "GB more than it has, at best (tensor 8)"),
        (("--workload", "gpt3-1t", "--devices", "131", "--batch", "2"), "more divisors"),
        (("--workload", "gpt3-1t", "--device", "a100", "--precision", "fp8"), "does not run fp8"),
        (("--workload", "bert-large", "--phase", "inference"), "writes no tokens"),
        (("instances/lumorph/golden.yaml", "--workload", "gpt3-1t"), "not both"),
        ((), "give an instance file, or --workload MODEL"),
        (("instances/lumorph/golden.yaml", "--tp", "8"), "--tp: is of --workload"),
        (("--workload", "gpt3-1t", "--concurrency", "4"), "--concurrency: is of --phase inference"),
        (("--workload", "llama-3.1-8b", "--phase", "inference", "--sequence", "4"), "--sequence: is of --phase"),
        (
            ("--workload", "llama-3.1-8b", "--ep", "2"),
            "no division into expert 2 on 64 accelerators; there are those into 1",
        ),
    ],
)
def test_bad_input_is_one_line(planner: Planner, options: tuple[str, ...], told: str) -> None:
    outcome = planner("score", *options)
    assert outcome.code == 2
    assert told in outcome.err
    assert outcome.err.count("\n") == 1


def _instance(tmp_path: Path, device: str, devices: int, workload: dict[str, Any]) -> Path:
    """One job on the servers that `--device` stands for."""
    fabric = fat_tree_of(system_of(device), devices).model_dump(mode="json", by_alias=True)
    path = tmp_path / "one.yaml"
    job = {"name": "x", "workload": workload, "accelerators": devices}
    cluster = {"device": device, "fabric": fabric}
    path.write_text(json.dumps({"schema_version": 2, "name": "one", "cluster": cluster, "jobs": [job]}))
    return path


SERVED = {"concurrency": 64, "input_tokens": 1024, "output_tokens": 1024}


@pytest.mark.slow
@pytest.mark.parametrize(("model", "devices"), [("mixtral-8x7b", 8), ("qwen3-30b-a3b", 16), ("llama-3.1-8b", 4)])
def test_a_served_model_has_the_same_best_candidate_in_solve(
    planner: Planner, tmp_path: Path, model: str, devices: int
) -> None:
    """Nothing of the job is pinned, neither for one command nor for the other."""
    best = planner("score", "--workload", model, "--phase", "inference", "--devices", devices, "--json").document
    path = _instance(tmp_path, "h100-sxm", devices, {"kind": "transformer_inference", "model": model} | SERVED)
    (placed,) = planner("solve", path, "--json").document["plan"]["assignments"]
    assert placed["step"] == pytest.approx(best["best"][0]["step_s"], rel=1e-9)
    assert placed["configuration"]["expert"] == best["best"][0]["configuration"].get("expert", 1)


@pytest.mark.slow
@pytest.mark.parametrize(("model", "sequence"), [("mixtral-8x7b", 4096), ("bert-large", 16384)])
def test_a_trained_model_has_the_same_best_candidate_in_solve(
    planner: Planner, tmp_path: Path, model: str, sequence: int
) -> None:
    """With the choices that `score` opens written into the instance, as it says them."""
    options = ("--devices", 16, "--batch", 64, "--sequence", sequence)
    best = planner("score", "--workload", model, *options, "--json").document
    path = _instance(tmp_path, "h100-sxm", 16, best["workload"])
    (placed,) = planner("solve", path, "--json").document["plan"]["assignments"]
    assert placed["step"] == pytest.approx(best["best"][0]["step_s"], rel=1e-9)


def test_context_and_experts_are_searched_unless_pinned(planner: Planner, tmp_path: Path) -> None:
    """The same job in an instance and in `score`, all else being left as an instance has it."""
    workload = {"kind": "transformer_training", "model": "mixtral-8x7b", "global_batch": 8, "sequence": 16384}
    free = planner("score", _instance(tmp_path, "h100-sxm", 32, workload), "--json", "--top", 10_000).document["x"]
    pinned = planner(
        "score", _instance(tmp_path, "h100-sxm", 32, workload | {"expert": 1, "context": 1}), "--json"
    ).document["x"]
    degrees = {(c["configuration"]["context"], c["configuration"]["expert"]) for c in free["candidates"]}
    assert max(context for context, _ in degrees) > 1
    assert max(expert for _, expert in degrees) > 1
    assert free["listed"] > pinned["listed"]
    assert all(c["configuration"]["expert"] == 1 == c["configuration"]["context"] for c in pinned["candidates"])


def test_score_says_where_time_and_energy_go(planner: Planner, instance: Path) -> None:
    outcome = planner("score", instance, "big", "--top", 3)
    assert outcome.code == 0
    assert "candidates listed, " in outcome.out
    assert "dominated, the best 3 shown" in outcome.out
    assert "small" not in outcome.out
    document = planner("score", instance, "--json", "--top", 2).document
    assert set(document) == {"big", "small"}
    candidate = document["big"]["candidates"][0]
    parts = [candidate[name] for name in ("compute_s", "memory_s", "reconfiguration_s", "bubble_s")]
    assert sum(parts) + sum(candidate["communication_s"].values()) == pytest.approx(candidate["step_s"])
    energies = candidate["energy_per_work_by_cause_j"]
    assert sum(energies.values()) == pytest.approx(candidate["energy_per_work_j"])
    assert len(document["big"]["candidates"]) == 2
    assert document["big"]["listed"] > document["big"]["dominated"]


def test_score_says_why_there_is_no_candidate(planner: Planner, tmp_path: Path) -> None:
    content = fields()
    content["jobs"][0]["workload"] |= {"model": "gpt3-175b"}
    content["jobs"][0]["accelerators"] = 1
    outcome = planner("score", written(tmp_path, content), "big")
    assert outcome.code == 0
    assert "each accelerator would hold 3163.3 GB, 3077.4 GB more than it has" in outcome.out
