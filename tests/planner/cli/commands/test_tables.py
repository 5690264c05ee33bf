"""Checkouts of public repositories, made small, become the tables that they should, by the command."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from costmodel.calibrate.public_tables import block_steps
from planner.cli import main as planner
from planner.tables import read_table


def main(arguments: list[str]) -> int:
    return planner(["tables", *arguments])


def _event(time_ms: int, key: str, value: Any = None, **metadata: Any) -> dict[str, Any]:
    kind = "POINT_IN_TIME" if value is not None else "INTERVAL_START"
    return {"namespace": "", "time_ms": time_ms, "event_type": kind, "key": key, "value": value, "metadata": metadata}


def _run(step_ms: int) -> list[dict[str, Any]]:
    """Three blocks of 10 steps of 32 samples, an evaluation of 5 s after each; the first block is slow."""
    told = [_event(0, "global_batch_size", 32), _event(0, "max_sequence_length", 8192)]
    told.append(_event(0, "gradient_accumulation_steps", 2))
    now = 1000
    for block in range(3):
        told.append(_event(now, "block_start", samples_count=320 * block))
        now += 10 * step_ms + (4000 if block == 0 else 0)
        told.append(_event(now, "block_stop", samples_count=320 * (block + 1)))
        now += 5000
    return told


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "training_results_v5.1"
    folder = root / "Maker" / "results" / "box" / "llama31_8b"
    folder.mkdir(parents=True)
    for number, step_ms in enumerate((1000, 1100, 1020)):
        lines = ["noise before", *(f":::MLLOG {json.dumps(event)}" for event in _run(step_ms)), ":::MLLOG {broken"]
        (folder / f"result_{number}.txt").write_text("\n".join(lines), encoding="utf-8")
    (root / "Maker" / "results" / "box" / "flux1").mkdir()
    (root / "Maker" / "systems").mkdir()
    system = {"number_of_nodes": "2", "accelerators_per_node": "8", "accelerator_model_name": "Maker X1"}
    (root / "Maker" / "systems" / "box.json").write_text(json.dumps(system), encoding="utf-8")
    return root


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_evaluations_and_the_first_block_do_not_count() -> None:
    told, steps = block_steps(_run(1000))
    assert steps == [1.0, 1.0]
    assert (told["global_batch_size"], told["max_sequence_length"]) == (32, 8192)


def test_a_system_is_a_row_with_its_recipe(checkout: Path, tmp_path: Path) -> None:
    recipes, output = tmp_path / "recipes.csv", tmp_path / "steps.csv"
    recipes.write_text("system,benchmark,tp,pp,dp\nbox,llama31_8b,1,1,16\n", encoding="utf-8")
    assert main(["mlperf", str(checkout), "-o", str(output), "--recipes", str(recipes)]) == 0
    (row,) = _read(output)
    assert (row["source"], row["model"], row["device"], row["devices"]) == (
        "mlperf-v5.1", "llama3-8b", "Maker X1", "16",
    )  # fmt: skip
    assert float(row["step_s"]) == 1.02
    assert float(row["run_spread"]) == 0.1
    assert (row["runs"], row["steps_used"], row["micro_batches"], row["dp"]) == ("3", "6", "2", "16")


def test_kernels_are_taken_by_their_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "src/aiconfigurator/systems/data/h100_sxm/trtllm/1.0.0"
    folder.mkdir(parents=True)
    given = ["aiconfigurator", str(tmp_path), "-o", str(tmp_path / "gemm.csv"), "--devices", "h100_sxm"]
    (folder / "gemm_perf.txt").write_text(
        "framework,gemm_dtype,m,n,k,latency\nTRTLLM,fp8,1,2,3,0.5\n", encoding="utf-8"
    )
    assert main(given) == 0
    assert _read(tmp_path / "gemm.csv") == [
        {"device": "h100", "gemm_dtype": "fp8", "m": "1", "n": "2", "k": "3", "latency_ms": "0.5"}
    ]
    (folder / "gemm_perf.txt").write_text("version https://git-lfs.github.com/spec/v1\n", encoding="utf-8")
    assert main(given) == 2
    assert "git lfs pull" in capsys.readouterr().err
    (folder / "gemm_perf.txt").write_text("m,n,k\n", encoding="utf-8")
    assert main(given) == 2
    assert "lacks the columns gemm_dtype, latency" in capsys.readouterr().err


def test_messages_of_collectives_are_told_in_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "src/aiconfigurator/systems/data/h100_sxm/nccl/2.27.3"
    folder.mkdir(parents=True)
    lines = ["op_name,nccl_dtype,num_gpus,message_size,latency"]
    measured = (("half", 512, 0.02), ("int8", 1024, 0.02), ("half", 512, 0.03))
    lines += [f"all_reduce,{kind},8,{size},{latency_ms}" for kind, size, latency_ms in measured]
    (folder / "nccl_perf.txt").write_text("\n".join(lines), encoding="utf-8")
    output = tmp_path / "nccl.csv"
    given = ["aiconfigurator", str(tmp_path), "-o", str(output), "--devices", "h100_sxm", "--table", "nccl"]
    assert main(given) == 0
    assert _read(output) == [
        {"device": "h100", "op_name": "all_reduce", "num_gpus": "8", "message_bytes": "1024", "latency_ms": "0.025"}
    ], "of repeats their mean"
    assert len(read_table(output)) == 1


def test_serving_is_that_of_known_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "serving.csv"
    given = ["aiconfigurator", str(tmp_path), "-o", str(output), "--devices", "h100_sxm", "--table", "serving"]
    assert main(given) == 2
    assert "has no src/aiconfigurator/systems; check out" in capsys.readouterr().err
    folder = tmp_path / "src/aiconfigurator/systems"
    folder.mkdir(parents=True)
    assert main(given) == 2
    assert "has no silicon_sample.csv" in capsys.readouterr().err
    head = "backend,model_path,system,precision,mode,isl,osl,batch_size,tp_size,pp_size,attention_dp_size,moe_ep_size"
    lines = [
        f"vllm,{model},{system},{precision},{mode},1024,512,16,2,1,{replicas},2,100.5,9.5"
        for model, system, precision, mode, replicas in (
            ("Qwen/Qwen3-32B", "h100_sxm", "fp8", "agg", 1),
            ("meta-llama/Llama-3.1-8B-Instruct", "h100_sxm", "", "agg", ""),
            ("Qwen/Qwen3-32B", "b200_sxm", "fp8", "agg", 1),
            ("Qwen/Qwen3-32B", "h100_sxm", "fp8", "disagg", 1),
            ("Qwen/Qwen3-32B", "h100_sxm", "fp8", "agg", 4),
            ("Qwen/Qwen3-30B-A3B-FP8", "h100_sxm", "fp8", "agg", 1),
            ("nobody/Unknown-1B", "h100_sxm", "fp8", "agg", 1),
        )
    ]
    text = "\n".join([f"{head},silicon_ttft_ms,silicon_tpot_ms", *lines])
    (folder / "silicon_sample.csv").write_text(text, encoding="utf-8")
    assert main(given) == 0
    first, second, third = _read(output)
    assert first == {
        "model": "Qwen3-32B", "device": "h100", "backend": "vllm", "precision": "fp8", "input_tokens": "1024",
        "output_tokens": "512", "concurrency": "16", "tp_size": "2", "pp_size": "1", "ep_size": "2",
        "ttft_ms": "100.5", "tpot_ms": "9.5",
    }  # fmt: skip
    assert (second["model"], second["precision"]) == ("Llama-3.1-8B-Instruct", "bf16"), "blank: as it was published"
    assert third["model"] == "Qwen3-30B-A3B", "whatever type its weights were cast to"
    assert len(read_table(output)) == 3


def test_a_folder_without_results_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["mlperf", str(tmp_path), "-o", str(tmp_path / "x.csv")]) == 2
    assert "has no SUBMITTER/results" in capsys.readouterr().err


def test_kernels_are_those_of_the_newest_version(tmp_path: Path) -> None:
    given = ["aiconfigurator", str(tmp_path), "-o", str(tmp_path / "gemm.csv"), "--devices", "h100_sxm"]
    for number, version in enumerate(("1.2.0rc5", "1.2.0rc12", "1.2.0", "1.3.0rc1", "1.10.0")):
        folder = tmp_path / "src/aiconfigurator/systems/data/h100_sxm/trtllm" / version
        folder.mkdir(parents=True)
        (folder / "gemm_perf.txt").write_text(f"gemm_dtype,m,n,k,latency\nfp8,1,2,3,{number}\n", encoding="utf-8")
        assert main(given) == 0
        assert _read(tmp_path / "gemm.csv")[0]["latency_ms"] == str(number), version
    assert main([*given, "--release", "1.2.0"]) == 0
    assert _read(tmp_path / "gemm.csv")[0]["latency_ms"] == "2"


def test_a_release_that_is_not_there_is_told_with_those_that_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "systems/data/h100_sxm/nccl/2.23"
    folder.mkdir(parents=True)
    (folder / "nccl_perf.txt").write_text("", encoding="utf-8")
    given = ["aiconfigurator", str(tmp_path), "-o", str(tmp_path / "x.csv"), "--devices", "h100_sxm"]
    assert main([*given, "--table", "nccl", "--release", "2.30"]) == 2
    assert "nccl of h100_sxm has no release 2.30; use 2.23" in capsys.readouterr().err
