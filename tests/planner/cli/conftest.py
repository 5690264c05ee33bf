"""Run commands in this process, as the console would, on instances small enough to be solved at once."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main

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
        "schema_version": 1,
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
