"""`planner score` of a model by itself: mappings side by side."""

import pytest

from tests.planner.cli.commands.score_cases import LLAMA
from tests.planner.cli.conftest import Planner


def test_best_mappings_are_printed(planner: Planner) -> None:
    outcome = planner(*LLAMA)
    assert outcome.code == 0
    assert "on 16 x h100-sxm" in outcome.out
    assert "MFU" in outcome.out
    assert "fit in memory" in outcome.out
    assert "valid in Calculon too" in outcome.out


def test_json_says_all_and_sorts_by_time(planner: Planner) -> None:
    document = planner(*LLAMA, "--json").document
    steps = [option["step_s"] for option in document["best"]]
    assert steps == sorted(steps)
    assert len(steps) == 3
    assert document["priced"] >= len(document["front"]) >= 1
    assert document["configurations"] >= document["fitting"] > document["as_calculon"] > 0
    assert all(0 < option["mfu"] < 1 for option in document["best"])
    best = document["best"][0]
    parts = best["compute_s"] + best["memory_s"] + sum(best["communication_s"].values()) + best["bubble_s"]
    assert best["step_s"] == pytest.approx(parts + best["offload_s"] + best["engine_s"])


def test_inference_and_precision(planner: Planner) -> None:
    options = ("score", "--workload", "qwen3-32b", "--phase", "inference", "--device", "h200", "--devices", "4")
    bf16 = planner(*options, "--json").document["best"]
    fp8 = planner(*options, "--precision", "fp8", "--json").document["best"]
    assert fp8[0]["step_s"] < bf16[0]["step_s"]
    narrow, wide = ({b["configuration"]["tensor"]: b["footprint_bytes"] for b in best} for best in (fp8, bf16))
    assert all(narrow[tensor] < wide[tensor] for tensor in narrow)
    assert all(b["ttft_s"] > b["tpot_s"] > 0 for b in bf16)


def test_a_recommendation_model(planner: Planner) -> None:
    options = ("score", "--workload", "dlrm-dcnv2", "--devices", "8", "--batch", "65536")
    text = planner(*options).out
    assert "65,536 samples a step" in text
    assert "samples/s" in text
    assert "energy/sample" in text
    training, inference = (planner(*options, "--phase", p, "--json").document for p in ("training", "inference"))
    assert training["best"][0]["speed"] < inference["best"][0]["speed"]
    assert inference["serving"] is None


def test_what_an_instance_fixes_is_told(planner: Planner) -> None:
    said = planner(*LLAMA).out
    assert "an instance fixes micro_batch, interleave, recompute, zero, sequence_parallel, schedule where" in said
    assert "an instance fixes" not in planner("score", "--workload", "mixtral-8x7b", "--phase", "inference").out


@pytest.mark.parametrize(
    ("model", "phase", "told"),
    [
        ("llama-3.1-405b", "inference", "a smaller --concurrency, a shorter --input or --output or an accelerator"),
        ("llama-3.1-405b", "training", "a shorter --sequence or an accelerator"),
    ],
)
def test_options_of_the_phase_are_advised(planner: Planner, model: str, phase: str, told: str) -> None:
    outcome = planner("score", "--workload", model, "--phase", phase, "--devices", "1")
    assert outcome.code == 2
    assert told in outcome.err
