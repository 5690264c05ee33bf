"""Exported schedules under MPI: real buffers, numerically right on every rank."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from costmodel.collectives.build import schedule_of
from costmodel.collectives.ladder import Algorithm, Collective
from planner.integrations.exports.sidecar import schedule_document
from tests.costmodel.collectives.cases import best_of
from tests.need import need_program, need_python_with

RUNNER = Path(__file__).parent / "run_schedule.py"


CASES: dict[int, list[tuple[Collective, Algorithm, int]]] = {
    8: [("all_reduce", "exchange", 3), ("all_to_all", "bruck", 3)],
    12: [
        ("all_reduce", "radix", 3),
        ("all_reduce", "exchange", 1),
        ("broadcast", "scatter", 3),
        ("reduce_scatter", "radix", 2),
    ],
    16: [("all_reduce", "radix", 16), ("all_reduce", "ring", 1), ("all_gather", "radix", 3)],
}
"""collective, algorithm and most peers, by the number of ranks"""


def run(documents: Sequence[object], ranks: int, folder: Path) -> subprocess.CompletedProcess[str]:
    mpirun, python = need_program("mpirun"), need_python_with("mpi4py")
    paths = [folder / f"schedule{number}.json" for number in range(len(documents))]
    for path, document in zip(paths, documents, strict=True):
        path.write_text(json.dumps(document), encoding="utf-8")
    command = [
        mpirun,
        "--allow-run-as-root",
        "--oversubscribe",
        "-n",
        str(ranks),
        python,
        str(RUNNER),
        *map(str, paths),
    ]
    return subprocess.run(command, capture_output=True, text=True, timeout=480)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", CASES)
def test_right_on_every_rank(ranks: int, tmp_path: Path) -> None:
    best = [best_of(algorithm, collective, ranks, 1e3, peers) for collective, algorithm, peers in CASES[ranks]]
    done = run([schedule_document(schedule_of(each)) for each in best], ranks, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [f"rank {rank}: right" for rank in range(ranks)] * len(best)


@pytest.mark.slow
def test_a_wrong_schedule_is_noticed(tmp_path: Path) -> None:
    document = schedule_document(schedule_of(best_of("radix", "all_reduce", 8, 1e6, 3)))
    first = document["rounds"][0]["transfers"][0]
    first[2] = 0 if first[2] else 8 - first[4]
    done = run([document], 8, tmp_path)
    assert done.returncode != 0
    assert "WRONG" in done.stdout
    first[2] = 8
    done = run([document], 8, tmp_path)
    assert done.returncode != 0
    assert "KeyError" in done.stderr
