"""planner score --workload: the best mappings of a model, without an instance."""

from pathlib import Path

import pytest

from tests.planner.cli.conftest import Planner

LLAMA = ("score", "--workload", "llama-3.1-8b", "--device", "h100", "--devices", "16", "--batch", "64", "--top", "3")


def test_best_mappings_are_printed(planner: Planner) -> None:
    outcome = planner(*LLAMA)
    assert outcome.code == 0
    assert "on 16 x h100-sxm" in outcome.out
    assert "MFU" in outcome.out


def test_json_says_all_and_sorts_by_time(planner: Planner) -> None:
    document = planner(*LLAMA, "--json").document
    steps = [option["step_s"] for option in document["best"]]
    assert steps == sorted(steps)
    assert len(steps) == 3
    assert document["priced"] >= len(document["front"]) >= 1
    assert all(0 < option["mfu"] < 1 for option in document["best"])
    best = document["best"][0]
    parts = best["compute_s"] + best["memory_s"] + sum(best["communication_s"].values()) + best["bubble_s"]
    assert best["step_s"] == pytest.approx(parts + best["offload_s"])


def test_inference_and_precision(planner: Planner) -> None:
    options = ("score", "--workload", "qwen3-32b", "--phase", "inference", "--device", "h200", "--devices", "4")
    bf16 = planner(*options, "--json").document["best"][0]
    fp8 = planner(*options, "--precision", "fp8", "--json").document["best"][0]
    assert fp8["step_s"] < bf16["step_s"]
    assert fp8["footprint_bytes"] < bf16["footprint_bytes"]


def test_a_recommendation_model(planner: Planner) -> None:
    options = ("score", "--workload", "dlrm-dcnv2", "--devices", "8", "--batch", "65536")
    text = planner(*options).out
    assert "65,536 samples a step" in text
    assert "samples/s" in text
    assert "per sample" in text
    training, inference = (planner(*options, "--phase", p, "--json").document for p in ("training", "inference"))
    assert training["best"][0]["speed"] < inference["best"][0]["speed"]
    assert inference["serving"] == []


def test_front_and_roofline_are_drawn(planner: Planner, tmp_path: Path) -> None:
    image = tmp_path / "search.png"
    assert planner(*LLAMA, "--plot", image).code == 0
    assert image.read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--workload", "gpt3-1x"), "did you mean gpt3-1t"),
        (("--workload", "dlrm-dcn"), "did you mean dlrm-dcnv2"),
        (("--workload", "gpt3-1t", "--device", "h1000"), "did you mean h100-sxm"),
        (("--workload", "gpt3-1t", "--devices", "8"), "more than h100-sxm has"),
        (("--workload", "gpt3-1t", "--devices", "131", "--batch", "2"), "more divisors"),
        (("--workload", "gpt3-1t", "--device", "a100", "--precision", "fp8"), "does not run fp8"),
        (("--workload", "bert-large", "--phase", "inference"), "writes no tokens"),
        (("instances/lumorph/golden.yaml", "--workload", "gpt3-1t"), "not both"),
        ((), "give an instance file, or --workload MODEL"),
    ],
)
def test_bad_input_is_one_line(planner: Planner, options: tuple[str, ...], told: str) -> None:
    outcome = planner("score", *options)
    assert outcome.code == 2
    assert told in outcome.err
    assert outcome.err.count("\n") == 1
