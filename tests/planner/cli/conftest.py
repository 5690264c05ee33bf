"""Run commands in this process, as the console would, on instances small enough to be solved at once."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import planner.checks as checks
from planner.cli import main
from planner.model.violation import Violation
from tests.planner.simulate.grounds import FABRICS, SMALL_DEMAND

BERT = {"kind": "transformer_training", "model": "bert-large", "global_batch": 64, "sequence": 512}


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Planner = Callable[..., Outcome]


@pytest.fixture
def planner(capsys: pytest.CaptureFixture[str]) -> Planner:
    """Run `planner` with arguments."""

    def run(*arguments: object) -> Outcome:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


def fields() -> dict[str, Any]:
    """Two servers of two tiles, and two jobs that fit."""
    fabric = {
        "kind": "lightpath", "servers": 2, "tiles_per_server": 2, "wavelengths_per_tile": 4,
        "wavelength_bandwidth": "25 GB/s", "max_peers": 3, "fibers": 2, "wavelengths_per_fiber": 4,
        "alpha": "0.7 us", "reconfiguration": "3.7 us", "energy": "5 pJ/b",
    }  # fmt: skip
    return {
        "schema_version": 2,
        "name": "tiny",
        "cluster": {"device": "h100-sxm", "fabric": fabric},
        "jobs": [
            {"name": "big", "workload": dict(BERT), "accelerators": {"min": 1, "max": 2}, "weight": 3},
            {"name": "small", "workload": dict(BERT), "accelerators": [1, 2]},
        ],
    }


@pytest.fixture
def instance(tmp_path: Path) -> Path:
    """A valid instance file."""
    return written(tmp_path, fields())


def written(folder: Path, content: dict[str, Any], name: str = "tiny.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture
def files(tmp_path: Path, planner: Planner) -> dict[str, Path]:
    """A demand model, a trace drawn from it, and a cluster of 32."""
    model, drawn, cluster = tmp_path / "model.json", tmp_path / "jobs.csv", tmp_path / "tree.json"
    model.write_text(SMALL_DEMAND.model_dump_json(), encoding="utf-8")
    cluster.write_text(json.dumps({"device": "h100-sxm", "fabric": FABRICS["fat_tree"]}), encoding="utf-8")
    assert planner("trace", "-o", drawn, "--model", model, "--jobs", "300").code == 0
    return {"model": model, "trace": drawn, "cluster": cluster, "cells": tmp_path / "cells", "csv": tmp_path / "o.csv"}


@pytest.fixture
def refusing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Violation:
    """A check that finds something in every plan, in a folder of its own."""
    broken = Violation("placement", "big", "big has no devices", 2.0)
    monkeypatch.setattr(checks, "check", lambda *given, **asked: [broken])
    monkeypatch.chdir(tmp_path)
    return broken


@pytest.fixture
def plan(planner: Planner, instance: Path, tmp_path: Path) -> Path:
    """A good plan of the instance."""
    path = tmp_path / "plan.json"
    assert planner("solve", instance, "--policy", "first_fit", "--plan-out", path).code == 0
    return path
