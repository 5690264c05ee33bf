"""Cables written, judged, and used by `planner export`."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from tests.planner.fabrics.slices.clusters import MIXTURE, SHIFTING, job, sliced
from tests.planner.integrations.wiring.wiring_cases import planned


def test_the_command_writes_what_to_delete_and_to_add(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    instance, plan = planned("ocs_rail")
    files: dict[str, Any] = {"n.json": instance.model_dump_json(), "plan.json": plan.model_dump_json()}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    given = [str(tmp_path / "n.json"), str(tmp_path / "plan.json")]
    cables = str(tmp_path / "wiring.csv")
    assert main(["wiring", "new", given[0], "-o", cables, "--loss", "1"]) == 0
    assert main(["wiring", "check", given[0], cables]) == 0
    options = ["--format", "crossconnects", "--wiring", cables, "-o", str(tmp_path / "out")]
    assert main(["export", *given, *options]) == 0
    first = json.loads((tmp_path / "out" / "crossconnects.json").read_text("utf-8"))
    added = {
        switch: sorted(a["cross_connect_id"] for a in each["add"]) for switch, each in first["bulk_update"].items()
    }
    assert added == first["connected"]
    assert main(["export", *given, *options, "--from", given[1]]) == 0
    again = json.loads((tmp_path / "out" / "crossconnects.json").read_text("utf-8"))
    assert again == {"bulk_update": {}, "connected": first["connected"]}
    lines = Path(cables).read_text("utf-8").splitlines()
    Path(cables).write_text("\n".join(lines[:-1]), encoding="utf-8")
    capsys.readouterr()
    assert main(["wiring", "check", given[0], cables, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["faults"][0]["kind"] == "missing"
    by_hand = Path(cables).read_bytes()
    assert main(["wiring", "new", given[0], "-o", cables]) == 2
    assert f"error: {cables}: --output: exists already" in capsys.readouterr().err
    assert Path(cables).read_bytes() == by_hand
    assert main(["wiring", "new", given[0], "-o", cables, "--force"]) == 0
    assert main(["wiring", "check", given[0], cables]) == 0


def test_shifts_that_were_looked_for_go_into_an_instance(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shifts.json"
    options = ["--sides", "2x2x2", "--cubes", "2x2x1", "--starts", "2", "-o", str(path)]
    assert main(["wiring", "shifts", *options]) == 0
    assert "any routing over it" in capsys.readouterr().out
    assert main(["wiring", "shifts", *options]) == 0
    given = {**SHIFTING, "switches": SHIFTING["switches"] | {"line_shifts": [json.loads(path.read_text("utf-8"))]}}
    (tmp_path / "n.json").write_text(sliced(given, job("a", 32, MIXTURE)).model_dump_json(), encoding="utf-8")
    capsys.readouterr()
    assert main(["solve", str(tmp_path / "n.json")]) == 0
    assert "ep shifted 4x4x2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sides", "4x4", "--cubes", "2x1x1"], "--sides: three numbers from 2 are needed, such as 4x4x4; not '4x4'"),
        (["--sides", "1x4x4", "--cubes", "2x1x1"], "--sides: three numbers from 2 are needed"),
        (["--sides", "4x4x4", "--cubes", "1x1x1"], "--cubes: slices have at least two cubes and 4,096 chips at most"),
        (["--sides", "4x4x4", "--cubes", "9x9x9"], "--cubes: slices have at least two cubes and 4,096 chips at most"),
    ],
)
def test_slices_that_cannot_be_are_refused(
    options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["wiring", "shifts", *options, "-o", str(tmp_path / "shifts.json")]) == 2
    assert message in capsys.readouterr().err
