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
class Steady:
    """What one case does while it is repeated for seconds."""

    run_s: float
    """of one run; 0 where nothing runs"""
    power_w: float
    """of the whole accelerator, its memory included"""
    clock_mhz: float
    """of its processors"""


Meter = Callable[[Case], Steady]
"""of a case, once power has settled; RuntimeError or MemoryError where it cannot run here or power cannot be read"""


@dataclass(frozen=True)
class Plan:
    """Rows to measure for one file."""

    name: str
    """of the file, without .csv"""
    cases: Sequence[Case]
    has_power: bool = False
    """whether power is measured beside time"""


@dataclass(frozen=True)
class Outcome:
    """What became of one table."""

    path: Path
    num_measured: int
    num_skipped: int
    why_skipped: str
    """of the first that was skipped"""


def write_table(
    plan: Plan, device: str, folder: Path, timer: Timer, meter: Meter, on_case: Callable[[], None]
) -> Outcome:
    """Measure every case and write each row at once; cases that cannot run here are left out.

    Columns: device, the inputs of the cases, latency_ms, and with power power_w and clock_mhz. `on_case` is called
    after each case.
    """
    path = folder / f"{plan.name}.csv"
    measured, skipped = 0, [""]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        read = ("latency_ms", "power_w", "clock_mhz") if plan.has_power else ("latency_ms",)
        writer.writerow(["device", *plan.cases[0].row, *read])
        for case in plan.cases:
            try:
                values = _power_cells(meter(case)) if plan.has_power else (f"{1e3 * timer(case):.6g}",)
            except (RuntimeError, MemoryError) as error:
                skipped.append(" ".join(str(error).split())[:200])
            else:
                writer.writerow([device, *case.row.values(), *values])
                measured += 1
            file.flush()
            on_case()
    return Outcome(path, measured, len(skipped) - 1, skipped[min(1, len(skipped) - 1)])


def _power_cells(steady: Steady) -> tuple[str, ...]:
    return f"{1e3 * steady.run_s:.6g}", f"{steady.power_w:.1f}", f"{steady.clock_mhz:.0f}"
