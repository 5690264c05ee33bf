"""A datacenter by counts of accelerators alone: which job in which size in which rack.

Any plan of the planner is a solution of it, but no circuit, server, port or memory unit is counted: what others find
here is no plan yet, and the best of it is no smaller than the best plan.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.problem import JobOptions, Problem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Counts:
    """K options of J jobs on R racks."""

    job: Ints
    """shape (K,), ascending"""
    devices: Ints
    """shape (K,): accelerators that an option takes"""
    value: Floats
    """shape (K,)"""
    room: Ints
    """shape (R,): accelerators of each rack; one entry where a job may span racks"""

    @property
    def num_jobs(self) -> int:
        return int(self.job[-1]) + 1 if len(self.job) else 0

    def options_of(self) -> list[Ints]:
        """Rows of each job."""
        return [np.flatnonzero(self.job == job) for job in range(self.num_jobs)]

    def part(self, jobs: NDArray[np.bool_], room: Ints) -> "Counts":
        """Some of the jobs on other racks; jobs are numbered anew."""
        kept = jobs[self.job]
        number = np.cumsum(jobs) - 1
        return Counts(number[self.job[kept]], self.devices[kept], self.value[kept], room)

    def save(self, path: Path) -> None:
        np.savez(path, **vars(self))

    @classmethod
    def load(cls, path: Path) -> "Counts":
        with np.load(path) as file:
            return cls(**{name: file[name] for name in ("job", "devices", "value", "room")})


def counts_of(problem: Problem) -> Counts:
    """Sizes of each job with the most that it is worth in them, of which no smaller one is worth as much."""
    fabric = problem.cluster.fabric
    rack = fabric.servers * fabric.devices_per_server
    racks = 1 if fabric.links_racks else fabric.racks
    kept = [_useful(options) for options in problem.options]
    job = np.repeat(np.arange(len(kept)), [len(devices) for devices, _ in kept])
    devices, value = (np.concatenate(column) for column in zip(*kept, strict=True))
    room = np.full(racks, rack if racks == fabric.racks else rack * fabric.racks, dtype=np.int64)
    return Counts(job.astype(np.int64), devices.astype(np.int64), value.astype(np.float64), room)


def _useful(options: JobOptions) -> tuple[Ints, Floats]:
    devices, value = np.asarray(options.candidates.num_devices), np.asarray(options.value)
    order = np.lexsort((-value, devices))
    best = np.maximum.accumulate(np.concatenate([[0.0], value[order]]))
    rows = order[value[order] > best[:-1]]
    return devices[rows], value[rows]
