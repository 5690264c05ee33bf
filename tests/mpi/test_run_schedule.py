"""Exported schedules under MPI: real buffers, numerically right on every rank."""

import json
import subprocess
from pathlib import Path

import pytest

from costmodel.collectives.build import schedule_of
from costmodel.collectives.ladder import Algorithm, Collective
from planner.integrations.exports.sidecar import schedule_document
from tests.costmodel.collectives.cases import best_of
from tests.need import need_program, need_python_with

RUNNER = Path(__file__).parent / "run_schedule.py"


def run(document: object, ranks: int, folder: Path) -> subprocess.CompletedProcess[str]:
    mpirun, python = need_program("mpirun"), need_python_with("mpi4py")
    path = folder / "schedule.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    command = [mpirun, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), python, str(RUNNER), str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=480)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ranks", "collective", "algorithm", "max_peers"),
    [
        (8, "all_reduce", "exchange", 3),
        (8, "all_to_all", "bruck", 3),
        (12, "all_reduce", "radix", 3),
        (12, "all_reduce", "exchange", 1),
        (12, "broadcast", "scatter", 3),
        (12, "reduce_scatter", "radix", 2),
        (16, "all_reduce", "radix", 16),
        (16, "all_reduce", "ring", 1),
        (16, "all_gather", "radix", 3),
    ],
)
def test_right_on_every_rank(
    ranks: int, collective: Collective, algorithm: Algorithm, max_peers: int, tmp_path: Path
) -> None:
    schedule = schedule_of(best_of(algorithm, collective, ranks, 1e3, max_peers))
    done = run(schedule_document(schedule), ranks, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n") == [*(f"rank {rank}: right" for rank in range(ranks)), ""]


@pytest.mark.slow
def test_a_wrong_schedule_is_noticed(tmp_path: Path) -> None:
    document = schedule_document(schedule_of(best_of("radix", "all_reduce", 8, 1e6, 3)))
    first = document["rounds"][0]["transfers"][0]
    first[2] = 0 if first[2] else 8 - first[4]
    done = run(document, 8, tmp_path)
    assert done.returncode != 0
    assert "WRONG" in done.stdout
    first[2] = 8
    done = run(document, 8, tmp_path)
    assert done.returncode != 0
    assert "KeyError" in done.stderr
