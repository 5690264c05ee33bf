"""Cells give the same wherever they run, are kept as soon as they are finished, and outlive what dies."""

import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from planner.model.errors import InputError
from planner.sweep.run import Interrupted, Where, run_cells
from planner.sweep.store import Store
from tests.planner.sweep import work
from tests.planner.sweep.run_cases import KEYS, commands


@pytest.mark.slow
def test_cells_of_a_worker_that_died_are_run_again(tmp_path: Path) -> None:
    found = run_cells(work.die_once, tmp_path, KEYS, store=None, where=Where(2))
    assert {cell: document["square"] for cell, document in found.items()} == {cell: cell * cell for cell in KEYS}
    assert (tmp_path / "died").exists()


@pytest.mark.slow
def test_workers_that_always_die_are_bad_input() -> None:
    with pytest.raises(InputError, match="workers: 2: a process died 3 times"):
        run_cells(work.die, None, KEYS, store=None, where=Where(2))


def test_an_interrupt_has_what_is_finished(tmp_path: Path) -> None:
    def stop(done: int, total: int, left_s: float | None) -> None:
        if done == 2:
            raise KeyboardInterrupt

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(Interrupted) as caught:
        run_cells(work.square, 10, KEYS, store=Store(tmp_path), on_cell=stop)
    assert list(caught.value.found) == [0, 1]
    assert str(caught.value) == f"stopped: 2 of {len(KEYS)} are done; the same command resumes"
    assert len(list(tmp_path.iterdir())) == 2
    assert signal.getsignal(signal.SIGINT) is before


def test_a_cell_that_hides_the_interrupt_is_dropped(tmp_path: Path) -> None:
    def searching(shared: int, cell: int, should_stop: Any) -> dict[str, Any]:
        if cell == 1:
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                assert should_stop()
        return {"cell": cell}

    with pytest.raises(Interrupted) as caught:
        run_cells(searching, 0, KEYS, store=Store(tmp_path))
    assert caught.value.found == {0: {"cell": 0}}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("nowhere", "is no address of a cluster; give auto, local, or host:port"),
        ("127.0.0.1:9", r"nobody answers there \(Connection refused\)"),
    ],
)
def test_addresses_without_a_cluster_are_bad_input(address: str, told: str) -> None:
    with pytest.raises(InputError, match=f"--ray: {address}: {told}"):
        run_cells(work.square, 1, KEYS, store=None, where=Where(ray=address))


def test_without_ray_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r'Ray is not installed; run `pip install "photonplan\[ray\]"`'):
        run_cells(work.square, 1, KEYS, store=None, where=Where(ray="auto"))


def _planner(*arguments: object) -> int:
    return main([str(argument) for argument in arguments])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["replay", "compare"])
def test_stopped_at_random_moments_and_run_again(name: str, tmp_path: Path) -> None:
    """Killed, run again and interrupted, run again: no process stays behind, and the bytes are those of one run."""
    arguments, runs = commands(tmp_path, 10)[name]
    kept = [*arguments, "--results", tmp_path / "cells"]
    assert _planner(*arguments, "--results", tmp_path / "whole", "--csv", tmp_path / "whole.csv") == 0
    done = 0
    for number, code_of, workers in ((signal.SIGKILL, -signal.SIGKILL, 2), (signal.SIGINT, 130, 1)):
        running = work.command(*kept, "--processes", workers)
        before, done = done, work.stopped_after_some(running, tmp_path / "cells", done, runs, number)
        assert before < done < runs
        assert running.returncode == code_of
    assert _planner(*kept, "--csv", tmp_path / "again.csv") == 0
    assert len(list((tmp_path / "cells").glob("*.json"))) == runs
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
