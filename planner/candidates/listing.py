"""Candidates of all jobs that ask for the same: listed, scored and rid of the dominated ones once."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.limits import Limits
from costmodel.pricing.listing import listed_and_priced
from costmodel.pricing.score import Scores
from planner.fabrics.demands import RowDemands
from planner.model.cluster import Cluster
from planner.model.job import Job, Reference

NO_REFERENCE = Reference(speed=1.0, energy_per_work=1.0)
"""of a job without candidates"""


@dataclass(frozen=True)
class Listing:
    """Rows with scores and demands, shape (C,), whatever a job weighs."""

    candidates: Candidates
    scores: Scores
    shapes: RowDemands

    @classmethod
    def of(cls, candidates: Candidates, scores: Scores, job: Job, fabric: FabricBase) -> "Listing":
        """All rows of a job."""
        is_even = job.constraints.per_server is not None
        return cls(candidates, scores, RowDemands.of(candidates, fabric, is_even=is_even))

    def __len__(self) -> int:
        return len(self.candidates)

    @cached_property
    def reference(self) -> Reference:
        """The fastest and the most frugal row."""
        if not len(self):
            return NO_REFERENCE
        least_j = float(self.scores.energy_per_work_j.min())
        return Reference(speed=float(self.scores.speed.max()), energy_per_work=least_j)

    def take(self, rows: NDArray[np.int64]) -> "Listing":
        """Only the given rows."""
        return Listing(self.candidates.take(rows), self.scores.take(rows), self.shapes.take(rows))

    def of_sizes(self, sizes: tuple[int, ...]) -> NDArray[np.int64]:
        """Rows of so many accelerators, ascending."""
        return np.flatnonzero(np.isin(self.candidates.num_devices, sizes))


class Listings:
    """Listings of the jobs of one cluster: jobs that differ in sizes alone are listed together."""

    def __init__(self, cluster: Cluster, jobs: Iterable[Job]) -> None:
        self._cluster = cluster
        self._sizes: dict[str, set[int]] = {}
        self._of_all_sizes: dict[str, Listing] = {}
        self._of_sizes: dict[tuple[str, tuple[int, ...]], Listing] = {}
        for job in jobs:
            self._sizes.setdefault(key_of(job), set()).update(job.sizes)

    def has(self, job: Job) -> bool:
        """True if what the job asks for is listed."""
        return key_of(job) in self._of_all_sizes

    def of_all_sizes(self, job: Job) -> Listing:
        """Every candidate of the job's workload under its constraints, on all sizes that jobs like it accept."""
        key = key_of(job)
        if key not in self._of_all_sizes:
            self._of_all_sizes[key] = self._listed(job, self._sizes[key])
        return self._of_all_sizes[key]

    def of(self, job: Job) -> Listing:
        """Every candidate of a job."""
        key = key_of(job), job.sizes
        if key not in self._of_sizes:
            whole = self.of_all_sizes(job)
            rows = whole.of_sizes(job.sizes)
            self._of_sizes[key] = whole if len(rows) == len(whole) else whole.take(rows)
        return self._of_sizes[key]

    def _listed(self, job: Job, sizes: Iterable[int]) -> Listing:
        cluster, limits = self._cluster, job.constraints
        rows = listed_and_priced(
            job.workload,
            [size for size in sorted(sizes) if size <= cluster.fabric.most_devices_of_a_job],
            cluster.device,
            cluster.fabric,
            Limits(limits.one_server, limits.per_server, limits.collective, limits.one_setting),
        )
        return Listing.of(*rows, job, cluster.fabric)


def key_of(job: Job) -> str:
    """All that the candidates of a job depend on, on one cluster, but its sizes."""
    return f"{job.workload_json} {job.constraints_json}"
