"""Tables of measurements, written row by row, so that an interrupted run keeps what it has."""

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Cell = str | int


@dataclass(frozen=True)
class Case:
    """One row to measure."""

    row: Mapping[str, Cell]
    """inputs by column"""
    needed_bytes: float
    """device memory that it takes"""
    prepare: Callable[[], Callable[[], Any]]
    """allocates, and returns what is to be timed"""
    in_graph: bool = True
    """whether it can be captured in a CUDA graph, which hides the time of launches"""


Timer = Callable[[Case], float]
"""seconds that a case takes; RuntimeError or MemoryError where it cannot run here"""


@dataclass(frozen=True)
class Plan:
    """Rows to measure for one file."""

    name: str
    """of the file, without .csv"""
    cases: Sequence[Case]


@dataclass(frozen=True)
class Outcome:
    """What became of one table."""

    path: Path
    num_measured: int
    num_skipped: int
    why_skipped: str
    """of the first that was skipped"""


def write_table(plan: Plan, device: str, folder: Path, timer: Timer, on_case: Callable[[], None]) -> Outcome:
    """Measure every case and write each row at once; cases that cannot run here are left out.

    Columns: device, the inputs of the cases, latency_ms. `on_case` is called after each case.
    """
    path = folder / f"{plan.name}.csv"
    measured, skipped = 0, [""]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["device", *plan.cases[0].row, "latency_ms"])
        for case in plan.cases:
            try:
                latency_s = timer(case)
            except (RuntimeError, MemoryError) as error:
                skipped.append(" ".join(str(error).split())[:200])
            else:
                writer.writerow([device, *case.row.values(), f"{1e3 * latency_s:.6g}"])
                measured += 1
            file.flush()
            on_case()
    return Outcome(path, measured, len(skipped) - 1, skipped[min(1, len(skipped) - 1)])
