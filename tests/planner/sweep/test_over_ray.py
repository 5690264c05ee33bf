"""Cells on a real Ray cluster of two nodes give the bytes that one process gives."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from tests.alone import alone
from tests.planner.sweep.run_cases import KEYS, SEEDS, commands
from tests.planner.sweep.work import MOST_S, NODES, ROOT

LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("ray")


@pytest.fixture(scope="module")
def found(folder: Path) -> Any:
    """What the cluster gave, all in one process that no warning or setting of the tests reaches."""
    command = [sys.executable, "-m", "tests.planner.sweep.on_ray", str(folder)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with alone("ray"):
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            start_new_session=True,
            capture_output=True,
            text=True,
            timeout=5 * MOST_S,
        )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads((folder / "found.json").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["replay", "compare"])
def test_bytes_are_those_of_one_process(found: Any, folder: Path, tmp_path: Path, name: str) -> None:
    arguments, runs = commands(tmp_path, SEEDS)[name]
    code = main([str(argument) for argument in [*arguments, "--results", tmp_path / "c", "--csv", tmp_path / "o.csv"]])
    assert found[name] == {"code": code, "nodes": NODES}
    assert (folder / f"{name}.csv").read_bytes() == (tmp_path / "o.csv").read_bytes()
    assert len(list((folder / f"{name}-cells").iterdir())) == runs


def test_cells_of_a_worker_that_died_are_run_again(found: Any, folder: Path) -> None:
    assert found["retried"] == {str(cell): {"square": cell * cell} for cell in KEYS}
    assert (folder / "died").exists()


def test_errors_of_cells_are_told(found: Any) -> None:
    assert found["refused"].startswith("file: field: is wrong in cell ")
    assert "install the same on all" in found["another"]


def test_no_other_machine_can_give_it_work(found: Any) -> None:
    assert found["listening"]
    assert set(found["listening"]) <= LOOPBACK


def test_racks_are_planned_anew_though_a_worker_died(found: Any, folder: Path) -> None:
    assert found["solve"] == {"code": 0, "check": 0}
    assert (folder / "rack-died").exists()
    assert (folder / "rack-planned").exists()
