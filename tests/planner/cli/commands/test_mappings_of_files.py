"""`planner score` of models and devices that files describe, and with pinned degrees."""

import json
from pathlib import Path

import pytest
import yaml

from costmodel.hardware.device import load_device
from costmodel.workloads.dlrm.recommenders import load_recommender
from costmodel.workloads.transformer.shapes import load_model
from tests.planner.cli.conftest import Planner

TRAINED = ("score", "--devices", "32", "--batch", "64", "--top", "1", "--json")
DEVICE = """\
name: of-my-own
capacity: 160 GB
memory_bandwidth: 6700 GB/s
flops: {bf16: 989 TFLOP/s, fp8: 1979 TFLOP/s}
num_sm: 132
"""


def written(path: Path, content: object) -> str:
    path.write_text(json.dumps(content) if path.suffix == ".json" else yaml.safe_dump(content))
    return str(path)


@pytest.mark.parametrize("name", ["model.yaml", "model.json"])
def test_a_model_of_a_file_is_that_of_its_name(planner: Planner, tmp_path: Path, name: str) -> None:
    sizes = load_model("llama-3.1-8b").model_dump(mode="json", exclude_defaults=True, exclude={"aliases", "source"})
    of_file = planner(*TRAINED, "--workload", written(tmp_path / name, sizes)).document
    of_name = planner(*TRAINED, "--workload", "llama-3.1-8b").document
    assert of_file["best"] == of_name["best"]
    assert of_file["workload"]["model"]["layers"] == 32


def test_a_recommendation_model_of_a_file(planner: Planner, tmp_path: Path) -> None:
    sizes = load_recommender("dlrm-dcnv2").model_dump(mode="json", exclude_defaults=True)
    path = written(tmp_path / "model.yaml", sizes)
    options = ("score", "--devices", "8", "--batch", "65536", "--json", "--workload")
    assert planner(*options, path).document["best"] == planner(*options, "dlrm-dcnv2").document["best"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": 0}, "layers: "),
        ({"layer": 32}, "layer: "),
        ({"kv_heads": 5}, "kv_heads (5) must divide heads (32)"),
        ({"heads": None}, "heads: "),
    ],
)
def test_a_wrong_model_is_named(planner: Planner, tmp_path: Path, change: dict[str, object], message: str) -> None:
    sizes = load_model("llama-3.1-8b").model_dump(mode="json", exclude={"aliases", "source"})
    outcome = planner("score", "--workload", written(tmp_path / "mine.yaml", sizes | change))
    assert outcome.code == 2
    assert "mine.yaml" in outcome.err
    assert message in outcome.err.replace("\n", " ")


def test_a_missing_model_file(planner: Planner, tmp_path: Path) -> None:
    outcome = planner("score", "--workload", str(tmp_path / "none.yaml"))
    assert (outcome.code, "none.yaml" in outcome.err) == (2, True)


def test_a_device_described_from_scratch(planner: Planner, tmp_path: Path) -> None:
    """Without `like`: typical curves, and the servers of an H100."""
    (tmp_path / "mine.yaml").write_text(DEVICE)
    for phase in ("training", "inference"):
        options = (*TRAINED, "--workload", "llama-3.1-8b", "--phase", phase, "--device", str(tmp_path / "mine.yaml"))
        document = planner(*options).document
        assert not document["calibrated"]
        assert document["best"][0]["footprint_bytes"] <= 160e9
    refused = planner(
        *TRAINED, "--workload", "llama-3.1-8b", "--device", str(tmp_path / "mine.yaml"), "--precision", "fp4"
    )
    assert refused.code == 2
    assert "device 'of-my-own' does not run fp4; it runs bf16, fp8" in refused.err.replace("\n", " ")


def test_pinned_degrees_are_kept(planner: Planner) -> None:
    document = planner(*TRAINED[:-3], "--workload", "llama-3.1-70b", "--tp", "8", "--pp", "2", "--json").document
    assert {(o["configuration"]["tensor"], o["configuration"]["pipeline"]) for o in document["best"]} == {(8, 2)}
    everything = planner(*TRAINED, "--workload", "llama-3.1-70b").document
    assert document["configurations"] < everything["configurations"]
    assert document["best"][0]["step_s"] >= everything["best"][0]["step_s"]
    context = planner(*TRAINED, "--workload", "llama-3.1-70b", "--cp", "2").document
    assert context["best"][0]["configuration"]["context"] == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--tp", "7"),
            "--tp 7: no division into tensor 7 on 32 accelerators; there are those into 1, 2, 4, 8, 16, 32",
        ),
        (
            ("--tp", "8", "--pp", "8"),
            "--tp 8 --pp 8: no division of 32 accelerators is tensor 8 x pipeline 8; leave one",
        ),
        (("--tp", "1", "--pp", "1"), "GB more than it has"),
    ],
)
def test_pinned_degrees_that_cannot_be(planner: Planner, options: tuple[str, ...], message: str) -> None:
    outcome = planner("score", "--devices", "32", "--workload", "llama-3.1-405b", *options)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())


def test_parts_that_people_run_now(planner: Planner) -> None:
    for device in ("gb200", "gb300", "mi300x", "tpu-trillium", "gaudi2"):
        (best,) = planner(*TRAINED, "--workload", "llama-3.1-8b", "--device", device).document["best"]
        assert 0 < best["mfu"] < 1
    assert load_device("gb300").ancestry[0] == "gb300"
