"""Demand as a table: when jobs arrive, how long they ran, and how many accelerators they asked for."""

import csv
import io
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from planner.errors import InputError
from planner.instance import MOST_ACCELERATORS
from planner.tables import read_columns

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
REQUIRED = ("arrival_s", "duration_s", "num_gpus")
DEFAULT_TENANT = "default"


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

    def __len__(self) -> int:
        return len(self.arrival_s)

    def window(self, jobs: int, seed: int) -> "Trace":
        """So many consecutive jobs from a random one on; all of them where there are no more."""
        if jobs >= len(self):
            return self
        first = int(np.random.default_rng([seed, 2]).integers(len(self) - jobs + 1))
        part = slice(first, first + jobs)
        columns = {name: getattr(self, name)[part] for name in self.__dataclass_fields__ if name != "name"}
        return replace(self, **columns)

    def offered(self, capacity: int) -> float:
        """Accelerators asked for at once, over the capacity, as the trace stands."""
        span_s = float(self.arrival_s[-1] - self.arrival_s[0])
        if span_s <= 0:
            raise InputError(self.name, "arrival_s", "all jobs arrive at once, so there is no load; give other times")
        return float(self.duration_s @ self.num_gpus) / (capacity * span_s)

    def at_load(self, load: float | None, capacity: int) -> "Trace":
        """Arrivals from 0 on, rescaled so that jobs ask for load x capacity accelerators at once."""
        scale = 1.0 if load is None else self.offered(capacity) / load
        return replace(self, arrival_s=(self.arrival_s - self.arrival_s[0]) * scale)


def read_trace(path: Path) -> Trace:
    """Jobs of a CSV or Parquet file; InputError names file, line and column of what is wrong."""
    columns, line = read_columns(
        path, REQUIRED, optional_numbers=("priority",), optional_names=("tenant", "workload")
    )  # fmt: skip
    jobs = len(line)
    priority = columns.get("priority", np.zeros(jobs))
    _require(path, line, "duration_s", columns["duration_s"], columns["duration_s"] > 0, "must be above 0")
    sizes, is_size = columns["num_gpus"], f"must be a whole number from 1 to {MOST_ACCELERATORS}"
    _require(path, line, "num_gpus", sizes, (sizes >= 1) & (sizes <= MOST_ACCELERATORS) & (sizes % 1 == 0), is_size)
    _require(path, line, "priority", priority, (priority % 1 == 0) & (abs(priority) < 1e9), "must be a whole number")
    tenant = columns.get("tenant", np.full(jobs, DEFAULT_TENANT))
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
    )


def _require(path: Path, line: Ints, column: str, values: Floats, is_right: NDArray[np.bool_], rule: str) -> None:
    wrong = np.flatnonzero(~is_right)
    if len(wrong):
        problem = f"{rule} (got {values[wrong[0]]:g}); correct it or drop the row"
        raise InputError(str(path), f"line {line[wrong[0]]}, column '{column}'", problem)


def to_csv(trace: Trace) -> str:
    """The table as a CSV text that `read_trace` reads."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*REQUIRED, "tenant"])
    columns = (trace.arrival_s.tolist(), trace.duration_s.tolist(), trace.num_gpus.tolist(), trace.tenant.tolist())
    for arrival_s, duration_s, size, tenant in zip(*columns, strict=True):
        writer.writerow([f"{arrival_s:.3f}", f"{duration_s:.3f}", size, tenant])
    return text.getvalue()
