"""A policy of another distribution, installed as pip would, in every command that takes policies."""

import json
import sys
from pathlib import Path

import pytest

from planner.cli import main
from planner.model.errors import InputError
from planner.policies import find_policy, origin_of
from planner.simulate.run_one import SimulationRun, replay
from planner.simulate.study import prepare_study
from tests.paths import ROOT
from tests.planner.cli.conftest import fields, written
from tests.planner.simulate.grounds import FABRICS, SMALL_DEMAND, cluster, mix

SOURCE = Path(__file__).with_name("worst_fit.py")
TUTORIAL = ROOT / "planner/docs/tutorials/scheduler.md"


def install(folder: Path, source: str, entries: str, version: str = "1.0") -> None:
    """What an installer leaves of a distribution of one module."""
    info = folder / f"worst_fit-{version}.dist-info"
    info.mkdir(parents=True)
    (folder / "worst_fit.py").write_text(source, encoding="utf-8")
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: worst-fit\nVersion: {version}\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[planner.policies]\n{entries}\n", encoding="utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with the example installed."""
    folder = tmp_path / "site"
    install(folder, SOURCE.read_text("utf-8"), "worst_fit = worst_fit:worst_fit\nlost = worst_fit:lost")
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "worst_fit", raising=False)
    return folder


def test_the_manual_shows_the_example() -> None:
    assert len(SOURCE.read_text("utf-8").splitlines()) <= 30
    assert f"```python\n{SOURCE.read_text('utf-8')}```" in TUTORIAL.read_text("utf-8")


def test_it_solves_and_is_checked(site: Path, tmp_path: Path) -> None:
    instance, plan = written(tmp_path, fields()), tmp_path / "plan.json"
    assert main(["solve", str(instance), "--policy", "worst_fit", "--plan-out", str(plan)]) == 0
    assert main(["check", str(instance), str(plan)]) == 0
    assert {entry["job"] for entry in json.loads(plan.read_text("utf-8"))["assignments"]} == {"big", "small"}


@pytest.mark.slow
def test_it_is_compared_on_processes(site: Path, tmp_path: Path) -> None:
    instance, rows = written(tmp_path, fields()), tmp_path / "rows.json"
    options = ["--policies", "worst_fit,first_fit", "--processes", "2", "--results", str(tmp_path / "runs")]
    assert main(["compare", str(instance), *options, "--out-json", str(rows)]) == 0
    found = json.loads(rows.read_text("utf-8"))
    assert [(row["policy"], row["violations"], row["admitted"]) for row in found] == [
        ("worst_fit", 0, 2), ("first_fit", 0, 2)
    ]  # fmt: skip


@pytest.mark.slow
def test_it_is_replayed(site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree, model = tmp_path / "tree.json", tmp_path / "model.json"
    tree.write_text(json.dumps({"device": "h100-sxm", "fabric": FABRICS["fat_tree"]}), encoding="utf-8")
    model.write_text(SMALL_DEMAND.model_dump_json(), encoding="utf-8")
    options = ["--policies", "first_fit,worst_fit", "--jobs", "60", "--seeds", "2", "--load", "0.8", "--processes", "2"]
    results = ["--results", str(tmp_path / "cells"), "--json"]
    assert main(["replay", str(model), "--cluster", str(tree), *options, *results]) == 0
    rows = {(row["policy"], row["measure"]): row for row in json.loads(capsys.readouterr().out)}
    assert rows["worst_fit", "admitted"]["mean"] == rows["first_fit", "admitted"]["mean"] == 1
    assert rows["worst_fit", "goodput"]["mean"] == pytest.approx(rows["first_fit", "goodput"]["mean"], rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("fabric", ["lightpath", "ocs_rail"])
def test_first_fit_from_outside_does_what_ours_does(
    fabric: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The adapter asks the planner's own first fit about what is free: the replay's incremental one agrees with it."""
    install(tmp_path / "site", "from planner.policies import first_fit as theirs\n", "theirs = worst_fit:theirs", "2.0")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.delitem(sys.modules, "worst_fit", raising=False)
    study = prepare_study(SMALL_DEMAND, mix(), {"c": cluster(fabric)}, jobs=80)
    ours, theirs = (replay(study, SimulationRun("c", policy, 0.9, 1)) for policy in ("first_fit", "theirs"))
    assert theirs.figures == pytest.approx(ours.figures, nan_ok=True)


def test_what_it_cannot_do_is_told(site: Path) -> None:
    with pytest.raises(InputError, match=r"^policy: lost: worst_fit:lost cannot be imported: "):
        find_policy("lost")


def test_keys_follow_its_version_and_source(site: Path) -> None:
    before = origin_of("worst_fit")
    assert before.startswith("worst-fit 1.0 ")
    assert origin_of("first_fit") == ""
    (site / "worst_fit.py").write_text(SOURCE.read_text("utf-8") + "\n", encoding="utf-8")
    assert origin_of("worst_fit") != before
