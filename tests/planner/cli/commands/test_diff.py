"""planner diff: two plans side by side."""

import json
from pathlib import Path

from tests.planner.cli.conftest import Planner


def _plans(planner: Planner, instance: Path, tmp_path: Path) -> tuple[Path, Path]:
    before, after = tmp_path / "a.json", tmp_path / "b.json"
    assert planner("solve", instance, "--policy", "first_fit", "--plan-out", after).code == 0
    data = json.loads(after.read_text("utf-8"))
    before.write_text(json.dumps(data | {"assignments": data["assignments"][:-1]}), encoding="utf-8")
    return before, after


def test_diff_tells_who_starts_and_writes_a_page(planner: Planner, instance: Path, tmp_path: Path) -> None:
    before, after = _plans(planner, instance, tmp_path)
    page = tmp_path / "diff.html"
    outcome = planner("diff", instance, before, after, "--html", page)
    assert outcome.code == 0
    assert "jobs: 1 starts" in outcome.out
    assert page.read_text("utf-8").startswith("<!doctype html>")
    document = planner("diff", instance, before, after, "--json").document
    assert [each["change"] for each in document] == ["stays"] * (len(document) - 1) + ["starts"]
    same = planner("diff", instance, after, after)
    assert same.out.strip() == f"jobs: {len(document)} stay as they are"


def test_diff_keeps_its_inputs(planner: Planner, instance: Path, tmp_path: Path) -> None:
    before, after = _plans(planner, instance, tmp_path)
    outcome = planner("diff", instance, before, after, "--html", after)
    assert outcome.code == 2
