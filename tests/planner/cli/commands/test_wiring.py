"""Cables written, judged, and used by `planner export`."""

import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
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
