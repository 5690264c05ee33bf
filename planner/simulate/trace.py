"""Demand as a table: when jobs arrive, how long they ran, and how many accelerators they asked for."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from planner.model.errors import InputError
from planner.model.job import MOST_ACCELERATORS
from planner.placement.asked_box import box_named
from planner.tables import csv_text, read_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
REQUIRED = ("arrival_s", "duration_s", "num_gpus")
DEFAULT_TENANT = "default"
LEAST_S = 0.001
"""shorter durations are written with all their digits, as none may become 0"""
SHORTEST = 1e-9
"""least time between arrivals that is tried, over one that is too long"""
BISECTIONS = 60


@dataclass(frozen=True)
class Trace:
    """Jobs in the order of their arrival, arrays of shape (jobs,)."""

    name: str
    arrival_s: Floats
    duration_s: Floats
    """as recorded, on the reference configuration of a mix"""
    num_gpus: Ints
    tenant: NDArray[np.str_]
    workload: NDArray[np.str_]
    """name in a mix; empty where the mix draws one"""
    priority: Ints
    """higher ones go first"""
    line: Ints
    """of the file, or the number of the job"""
    shape: NDArray[np.str_] | None = None
    """box of a torus that each job asks for, such as 4x4x8; empty for any; None where none asks for one"""

    def __len__(self) -> int:
        return len(self.arrival_s)

    def window(self, jobs: int, seed: int) -> "Trace":
        """So many consecutive jobs from a random one on; all of them where there are no more."""
        if jobs >= len(self):
            return self
        first = int(np.random.default_rng([seed, 2]).integers(len(self) - jobs + 1))
        part = slice(first, first + jobs)
        columns = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "name"}
        return replace(self, **{name: column[part] for name, column in columns.items() if column is not None})

    @property
    def shapes(self) -> list[str]:
        """Each box that jobs ask for once, in the order of the text."""
        return [] if self.shape is None else sorted({*self.shape.tolist()} - {""})

    def offered(self, capacity: int, warm_up: float = 0.0, stretch: float = 1.0) -> float:
        """Accelerators that the jobs would hold on average over all, did they take their recorded time and none wait:
        from a share `warm_up` of the time to the last arrival, the times between arrivals `stretch` times as long."""
        arrival_s = self._since_s * stretch
        end_s = float(arrival_s[-1])
        if end_s <= 0:
            raise InputError(self.name, "arrival_s", "all jobs arrive at once, so there is no load; give other times")
        held_s = asked_s(arrival_s, self.duration_s, self.num_gpus, warm_up * end_s, end_s)
        return held_s / (capacity * (1 - warm_up) * end_s)

    def stretch(self, load: float, capacity: int, warm_up: float = 0.0) -> float:
        """Factor on the times between arrivals for an offered load; InputError where no time is so short."""
        high = 1.0
        while self.offered(capacity, warm_up, high) > load:
            high *= 2
        low = high * SHORTEST
        most = self.offered(capacity, warm_up, low)
        if most < load:
            problem = f"so few jobs ask for at most {most:.2g} of the cluster on average; take more jobs or less load"
            raise InputError(self.name, f"load {load:g}", problem)
        for _ in range(BISECTIONS):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if self.offered(capacity, warm_up, middle) > load else (low, middle)
        return high

    def at_load(self, load: float | None, capacity: int, warm_up: float = 0.0) -> "Trace":
        """Arrivals from 0 on, nearer or farther from each other so that the offered load is this one."""
        stretch = 1.0 if load is None else self.stretch(load, capacity, warm_up)
        return replace(self, arrival_s=self._since_s * stretch)

    @property
    def _since_s(self) -> Floats:
        """Arrivals since the first one."""
        return np.asarray(self.arrival_s - self.arrival_s[0])


def asked_s(arrival_s: Floats, duration_s: Floats, size: Ints, begin_s: float, end_s: float) -> float:
    """Accelerator-seconds from one time to another of jobs that never wait; arrays of shape (jobs,)."""
    counted_s = np.minimum(arrival_s + duration_s, end_s) - np.maximum(arrival_s, begin_s)
    return float(np.clip(counted_s, 0, None) @ size)


def read_trace(path: Path) -> Trace:
    """Jobs of a CSV or Parquet file; InputError names file, line and column of what is wrong."""
    columns, line = read_columns(
        path, REQUIRED, optional_numbers=("priority",), optional_names=("tenant", "workload", "shape"),
        remedy="`planner trace -o FILE` draws a trace",
    )  # fmt: skip
    jobs = len(line)
    priority = columns.get("priority", np.zeros(jobs))
    _require(path, line, "duration_s", columns["duration_s"], columns["duration_s"] > 0, "must be above 0")
    sizes, is_size = columns["num_gpus"], f"must be a whole number from 1 to {MOST_ACCELERATORS}"
    _require(path, line, "num_gpus", sizes, (sizes >= 1) & (sizes <= MOST_ACCELERATORS) & (sizes % 1 == 0), is_size)
    _require(path, line, "priority", priority, (priority % 1 == 0) & (abs(priority) < 1e9), "must be a whole number")
    tenant = columns.get("tenant", np.full(jobs, DEFAULT_TENANT))
    if "shape" in columns:
        _require_shapes(path, line, columns["shape"], sizes)
    order = np.argsort(columns["arrival_s"], kind="stable")
    return Trace(
        name=str(path),
        arrival_s=columns["arrival_s"][order],
        duration_s=columns["duration_s"][order],
        num_gpus=sizes[order].astype(np.int64),
        tenant=np.where(tenant == "", DEFAULT_TENANT, tenant)[order],
        workload=columns.get("workload", np.full(jobs, ""))[order],
        priority=priority[order].astype(np.int64),
        line=line[order],
        shape=columns["shape"][order] if "shape" in columns else None,
    )


def _require_shapes(path: Path, line: Ints, shape: NDArray[np.str_], sizes: Floats) -> None:
    """InputError for a text that is no box, or a box of another number of accelerators than the job asks for."""
    for name in sorted({*shape.tolist()} - {""}):
        rows = np.flatnonzero(shape == name)
        try:
            volume = math.prod(box_named(name))
        except ValueError as error:
            raise InputError(str(path), f"line {line[rows[0]]}, column 'shape'", str(error)) from None
        wrong = rows[sizes[rows] != volume]
        if len(wrong):
            problem = f"{name} has {volume} accelerators, but num_gpus is {sizes[wrong[0]]:g}; correct one of them"
            raise InputError(str(path), f"line {line[wrong[0]]}, column 'shape'", problem)


def _require(path: Path, line: Ints, column: str, values: Floats, is_right: NDArray[np.bool_], rule: str) -> None:
    wrong = np.flatnonzero(~is_right)
    if len(wrong):
        problem = f"{rule} (got {values[wrong[0]]:g}); correct it or drop the row"
        raise InputError(str(path), f"line {line[wrong[0]]}, column '{column}'", problem)


def to_csv(trace: Trace) -> str:
    """The table as a CSV text that `read_trace` reads."""
    arrival_s = [f"{time_s:.3f}" for time_s in trace.arrival_s.tolist()]
    duration_s = [f"{time_s:.3f}" if time_s >= LEAST_S else f"{time_s:g}" for time_s in trace.duration_s.tolist()]
    rows = zip(arrival_s, duration_s, trace.num_gpus.tolist(), trace.tenant.tolist(), strict=True)
    table = [dict(zip((*REQUIRED, "tenant"), row, strict=True)) for row in rows]
    if trace.shape is not None:
        table = [{**row, "shape": shape} for row, shape in zip(table, trace.shape.tolist(), strict=True)]
    return csv_text(table)
