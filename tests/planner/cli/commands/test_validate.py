"""planner validate: text, JSON, figure, given calibrations, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from costmodel.kernels.collective import CollectiveCurve
from tests.planner.cli.commands.validate_cases import part, try_little, written
from tests.planner.cli.conftest import Planner


@pytest.fixture(autouse=True)
def _few_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    try_little(monkeypatch)


def test_text_tells_groups_and_worst_rows(planner: Planner, tmp_path: Path) -> None:
    outcome = planner("validate", written(tmp_path))
    assert outcome.code == 0
    assert "nccl   80 rows" in outcome.out
    assert "h100 all_reduce" in outcome.out
    assert "worst at line" in outcome.out
    assert "rank correlation" in outcome.out


def test_json_tells_the_same(planner: Planner, tmp_path: Path) -> None:
    document = planner("validate", written(tmp_path), "--json", "--rows").document
    (quantity,) = document["quantities"]
    assert (document["kind"], document["rows"], quantity["rows"]) == ("nccl", 80, 80)
    assert len(quantity["groups"]) == 4
    assert len(quantity["worst"]) == 5
    errors = [abs(row["relative_error"]) for row in quantity["predictions"]]
    assert quantity["all"]["mean"] == pytest.approx(np.mean(errors))
    assert quantity["all"]["bias"] < 0


def test_a_given_calibration_comes_before_the_catalog(planner: Planner, tmp_path: Path) -> None:
    table = written(tmp_path)
    document = planner("validate", table, "--json", "--calibration", part(tmp_path, "h100-sxm")).document
    assert document["quantities"][0]["all"]["worst"] < 1e-6


def test_calibrations_of_two_devices_serve_each_its_own_rows(planner: Planner, tmp_path: Path) -> None:
    table = written(tmp_path, ("h100", "a100"))
    given = [part(tmp_path, "a100-sxm", CollectiveCurve()), part(tmp_path, "h100-sxm")]
    options = [option for path in given for option in ("--calibration", path)]
    document = planner("validate", table, "--json", *options).document
    groups = document["quantities"][0]["groups"]
    assert all(group["calibrated_rows"] == group["rows"] for group in groups)
    assert all((group["worst"] < 1e-6) == (group["group"]["device"] == "h100") for group in groups)


@pytest.mark.slow
def test_a_figure_is_written(planner: Planner, tmp_path: Path) -> None:
    assert planner("validate", written(tmp_path), "--plot", tmp_path / "scatter.png").code == 0
    assert (tmp_path / "scatter.png").stat().st_size > 5000


def test_what_is_refused(planner: Planner, tmp_path: Path) -> None:
    table = written(tmp_path)
    wrong = part(tmp_path, "h100-sxm")
    wrong.write_text(wrong.read_text().replace("launch_s", "launch_ms"))
    unknown = tmp_path / "unknown.json"
    unknown.write_text(json.dumps({"device": "h100-sxm", "families": {"gem": {}}, "source": "x"}))
    cases = [
        ((tmp_path / "none.csv",), "does not exist"),
        ((table, "--kind", "speed"), "kinds are"),
        ((table, "--kind", "attention_context"), "attn_dtype"),
        ((table, "--plot", tmp_path / "x.bmp"), "no known format"),
        ((table, "--plot", tmp_path / "no" / "x.png"), "does not exist; create it first"),
        ((table, "--rows"), "give --json too"),
        ((table, "--calibration", tmp_path / "none.json"), "planner calibrate TABLES"),
        ((table, "--calibration", wrong), "launch_ms"),
        ((table, "--calibration", unknown), "families.gem: is no family of kernels"),
    ]
    for arguments, problem in cases:
        outcome = planner("validate", *arguments)
        assert (outcome.code, outcome.out) == (2, ""), arguments
        assert problem in outcome.err
        assert outcome.err.count("\n") == 1


def test_curves_of_one_device_alone(planner: Planner, tmp_path: Path) -> None:
    table = written(tmp_path, ("h100", "a100"), CollectiveCurve())
    document = planner("validate", table, "--fitted-on", "h100", "--json").document
    by_device = {group["group"]["device"]: group for group in document["quantities"][0]["groups"]}
    assert by_device["h100"]["calibrated_rows"] > 0
    assert by_device["a100"]["calibrated_rows"] == 0
    refused = planner("validate", table, "--fitted-on", "h101")
    assert refused.code == 2
    assert "--fitted-on" in refused.err


def test_devices_left_out_in_turn(planner: Planner, tmp_path: Path) -> None:
    table = written(tmp_path, ("h100", "a100"))
    (quantity,) = planner("validate", table, "--leave-out", "device", "--json").document["quantities"]
    assert [group["group"] for group in quantity["groups"]] == [{"device": "a100"}, {"device": "h100"}]
    assert quantity["all"]["calibrated_rows"] == 0
    assert "each device predicted by a fit on all others" in planner("validate", table, "--leave-out", "device").out


def test_what_cannot_be_left_out(planner: Planner, tmp_path: Path) -> None:
    table = written(tmp_path)
    for arguments, problem in (
        (("--leave-out", "num_gpus"), "is no column of names; take one of device, op_name, halves"),
        (("--leave-out", "device"), "column 'device' has one value, h100"),
        (("--leave-out", "device", "--fitted-on", "h100"), "fits anew; leave --fitted-on out"),
    ):
        outcome = planner("validate", table, *arguments)
        assert (outcome.code, outcome.out) == (2, "")
        assert problem in outcome.err


def test_curves_tell_software_and_date_and_halves_may_be_left_out(planner: Planner, tmp_path: Path) -> None:
    table = written(tmp_path, ("h100", "a100"), CollectiveCurve())
    shown = planner("validate", table).out
    assert "numbers fitted" in shown
    assert "--leave-out halves" in shown
    document = planner("validate", table, "--json").document
    assert [curve["device"] for curve in document["curves"]] == ["a100-sxm", "h100-sxm"]
    origin = document["curves"][0]["origins"]["node"]
    assert origin["software"].startswith("NCCL")
    assert document["curves"][0]["numbers_fitted"] == len(origin["fitted"])
    halves = planner("validate", table, "--leave-out", "halves", "--json").document
    assert (halves["left_out"], halves["curves"]) == ("halves", [])
    assert halves["quantities"][0]["all"]["calibrated_rows"] == halves["rows"]
