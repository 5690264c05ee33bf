"""planner calibrate: files, kept curves, ablations, measuring, and what is refused."""

import json
from pathlib import Path

import pytest

from costmodel.pricing.calibration import Calibration
from tests.planner.cli.commands.validate_cases import SLOW, part, try_little, written
from tests.planner.cli.conftest import Planner


@pytest.fixture(autouse=True)
def _few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    try_little(monkeypatch)


@pytest.mark.slow
def test_one_device_goes_to_the_file_itself(planner: Planner, tmp_path: Path) -> None:
    target = tmp_path / "part.json"
    outcome = planner("calibrate", written(tmp_path), "-o", target, "--source", "made up")
    assert outcome.code == 0
    found = Calibration.model_validate_json(target.read_text())
    assert (found.device, found.source) == ("h100-sxm", "made up")
    assert found.families["nccl"]["node"]["launch_s"] == pytest.approx(SLOW.launch_s, rel=0.01)
    assert "one step around the ring" in outcome.out
    document = planner("validate", tmp_path / "table.csv", "--calibration", target, "--json").document
    assert document["quantities"][0]["all"]["mean"] < 0.005


@pytest.mark.slow
def test_several_devices_get_one_file_each(planner: Planner, tmp_path: Path) -> None:
    outcome = planner("calibrate", written(tmp_path, ("h100", "a100")), "-o", tmp_path / "part.json", "--json")
    assert set(outcome.document["files"]) == {"a100-sxm", "h100-sxm"}
    assert not (tmp_path / "part.json").exists()
    for device in ("a100-sxm", "h100-sxm"):
        found = Calibration.model_validate_json((tmp_path / f"part.{device}.json").read_text())
        assert found.device == device


@pytest.mark.slow
def test_curves_of_other_families_are_kept(planner: Planner, tmp_path: Path) -> None:
    target = part(tmp_path, "h100-sxm")
    content = json.loads(target.read_text())
    content["families"]["nccl"]["rack"] = content["families"]["nccl"]["node"]
    target.write_text(json.dumps(content))
    assert planner("calibrate", written(tmp_path), "-o", target).code == 0
    assert set(Calibration.model_validate_json(target.read_text()).families["nccl"]) == {"node", "rack"}


@pytest.mark.slow
def test_ablations_are_told(planner: Planner, tmp_path: Path) -> None:
    document = planner("calibrate", written(tmp_path), "-o", tmp_path / "x.json", "--ablation", "--json").document
    full, *without = document["ablations"]
    assert full["term"] == ""
    assert all(each["num_parameters"] < full["num_parameters"] for each in without)
    assert all(each["mean_error"] >= full["mean_error"] - 1e-3 for each in without)


def test_what_is_refused(planner: Planner, tmp_path: Path) -> None:
    table, other = written(tmp_path), part(tmp_path, "a100-sxm")
    cases = [
        (("-o", "x.json"), "TABLES: no table is given"),
        ((table,), "--output: is missing"),
        ((table, "-o", tmp_path / "no" / "x.json"), "does not exist; create it first"),
        ((table, "-o", other), "holds curves of a100-sxm, not of h100-sxm"),
        ((table, "-o", table), "exists and is not a calibration"),
        ((table, "-o", tmp_path / "x.json", "--quick"), "belongs to --measure"),
        ((table, "-o", tmp_path / "x.json", "--software", "NCCL 2.27"), "belong together"),
        ((table, "-o", tmp_path / "x.json", "--software", "NCCL 2.27", "--date", "May"), "is no date"),
        ((table, "--measure"), "leave out the tables"),
        (("--measure", "-o", table), "is a file"),
    ]
    for arguments, problem in cases:
        outcome = planner("calibrate", *arguments)
        assert (outcome.code, outcome.out) == (2, ""), arguments
        assert problem in outcome.err, outcome.err
        assert outcome.err.count("\n") == 1
