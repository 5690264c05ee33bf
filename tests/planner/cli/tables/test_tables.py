"""Commands price by the calibrations that the environment names, or tell what is wrong with them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from planner.cli import main

ASK = ["score", "--workload", "llama-3.1-8b", "--phase", "inference", "--device", "b200-sxm", "--devices", "8"]
PINNED = [*ASK, "--tp", "8", "--top", "1", "--json"]


def _tensor_s(environment: dict[str, str]) -> float:
    """Seconds of tensor messages in a step, by a process of its own, since curves are read once a process."""
    command = [sys.executable, "-c", "import sys; from planner.cli import main; sys.exit(main())", *PINNED]
    ran = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=True)
    (mapping,) = json.loads(ran.stdout)["best"]
    return float(mapping["communication_s"]["tensor"])


def test_a_part_of_the_users_own_goes_before_the_catalog(tmp_path: Path) -> None:
    part = tmp_path / "b200.json"
    curves = {"nccl": {"node": {"launch_s": 1e-3, "step_s": 0.0}}}
    content = {"kind": "calibration", "device": "b200-sxm", "source": "ours", "families": curves}
    part.write_text(json.dumps(content), encoding="utf-8")
    assert _tensor_s({"PLANNER_CALIBRATIONS": str(part)}) > 64 * 1e-3 > 10 * _tensor_s({})


@pytest.mark.parametrize(("text", "told"), [(None, "does not exist"), ("{}", "device: "), ("{", "")])
def test_a_file_that_is_no_calibration_is_named(
    text: str | None, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "part.json"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("PLANNER_CALIBRATIONS", str(path))
    assert main(["fields"]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {path}")
    assert told in error


def test_files_of_several_devices_are_named_in_place_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path, parts = tmp_path / "cal.json", [str(tmp_path / f"cal.{device}.json") for device in ("b200", "h100-sxm")]
    for part in parts:
        Path(part).touch()
    monkeypatch.setenv("PLANNER_CALIBRATIONS", str(path))
    assert main(["fields"]) == 2
    remedy = f"of several devices each has a file: set PLANNER_CALIBRATIONS to {parts[0]}:{parts[1]}"
    assert capsys.readouterr().err == f"error: {path}: does not exist; {remedy}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["solve", "--help"], ["solve", "x.yaml", "-h"], ["slurm", "--help"]])
def test_help_is_given_whatever_the_environment_names(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLANNER_CALIBRATIONS", "missing.json")
    assert main(arguments) == 0
    assert "Usage: planner" in capsys.readouterr().out
