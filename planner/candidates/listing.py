"""Candidates of all jobs that ask for the same: listed, scored and rid of the dominated ones once."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.parallelism.mappings import grouped
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.limits import Limits
from costmodel.pricing.listing import listed_and_priced, price_together
from costmodel.pricing.score import Scores
from costmodel.workloads import TransformerInference
from costmodel.workloads.transformer.joined_serving import joining_key
from planner.fabrics.demands import RowDemands
from planner.model.cluster import Cluster
from planner.model.job import Job, Reference

TOGETHER = 32
"""jobs that are listed together at most: fewer than are remembered"""
FEW_TOGETHER = 8
"""the same where jobs may change their settings between phases, which takes longer: a short time limit is kept"""
OnPriced = Callable[[str, int, int], None]
"""told what is done next (pricing candidates of chat), how many are done, and of how many"""
NO_REFERENCE = Reference(speed=1.0, energy_per_work=1.0)
"""of a job without candidates"""


def untold(job: str, done: int, total: int) -> None:
    """Of an `OnPriced` that nobody asked for."""


@dataclass(frozen=True)
class Listing:
    """Rows with scores and demands, shape (C,), whatever a job weighs."""

    candidates: Candidates
    scores: Scores
    shapes: RowDemands
    short: NDArray[np.bool_] | None = None
    """which rows are the short list, where it was made"""

    @classmethod
    def of(cls, candidates: Candidates, scores: Scores, job: Job, fabric: FabricBase) -> "Listing":
        """All rows of a job."""
        return cls(candidates, scores, RowDemands.of(candidates, fabric, job.constraints))

    def __len__(self) -> int:
        return len(self.candidates)

    @cached_property
    def reference(self) -> Reference:
        """The fastest and the most frugal row."""
        return self.reference_of([*self._by_size])[1]

    def reference_of(self, sizes: Sequence[int]) -> tuple[int, Reference]:
        """Number of rows of so many accelerators, and the fastest and the most frugal of them."""
        own = [self._by_size[size] for size in sizes if size in self._by_size]
        if not own:
            return 0, NO_REFERENCE
        numbers, speeds, energies_j = zip(*own, strict=True)
        return sum(numbers), Reference(speed=max(speeds), energy_per_work=min(energies_j))

    @cached_property
    def _by_size(self) -> dict[int, tuple[int, float, float]]:
        """Number of rows, most speed and least energy for work by size."""
        devices = self.candidates.num_devices
        if not len(devices):
            return {}
        _, order, starts = grouped([devices])
        numbers = np.diff(starts, append=len(order)).tolist()
        speeds = np.maximum.reduceat(self.speed[order], starts).tolist()
        energies_j = np.minimum.reduceat(self.energy_per_work_j[order], starts).tolist()
        return dict(zip(devices[order[starts]].tolist(), zip(numbers, speeds, energies_j, strict=True), strict=True))

    @cached_property
    def speed(self) -> NDArray[np.float64]:
        return self.scores.speed

    @cached_property
    def energy_per_work_j(self) -> NDArray[np.float64]:
        return self.scores.energy_per_work_j

    def take(self, rows: NDArray[np.int64]) -> "Listing":
        """Only the given rows."""
        short = None if self.short is None else self.short[rows]
        return Listing(self.candidates.take(rows), self.scores.take(rows), self.shapes.take(rows), short)

    def of_sizes(self, sizes: tuple[int, ...]) -> NDArray[np.int64]:
        """Rows of so many accelerators, ascending."""
        return np.flatnonzero(np.isin(self.candidates.num_devices, sizes))


class Listings:
    """Listings of the jobs of one cluster: jobs that differ in sizes alone are listed together."""

    def __init__(self, cluster: Cluster, jobs: Collection[Job], on_priced: OnPriced = untold) -> None:
        self._cluster, self._on_priced = cluster, on_priced
        self._sizes: dict[str, set[int]] = {}
        self._first: dict[str, Job] = {}
        self._number: dict[str, int] = {}
        self._of_all_sizes: dict[str, Listing] = {}
        self._of_sizes: dict[tuple[str, tuple[int, ...]], Listing] = {}
        asked: dict[tuple[str, tuple[int, ...]], int] = {}
        for job in jobs:
            key = job.listing_json
            self._first.setdefault(key, job)
            asked[key, job.sizes] = asked.get((key, job.sizes), 0) + 1
        for (key, sizes), number in asked.items():
            self._sizes.setdefault(key, set()).update(sizes)
            self._number[key] = self._number.get(key, 0) + number

    def first_of_each(self, jobs: Iterable[Job]) -> Iterable[Job]:
        """Of jobs that are listed together the first."""
        found: dict[str, Job] = {}
        for job in jobs:
            found.setdefault(job.listing_json, job)
        return found.values()

    @property
    def has_all(self) -> bool:
        """True if what all jobs ask for is listed."""
        return len(self._of_all_sizes) == len(self._first)

    def has(self, job: Job) -> bool:
        """True if what the job asks for is listed."""
        return job.listing_json in self._of_all_sizes

    def effort(self, job: Job) -> int:
        """What listing a job takes, roughly, in proportion to others."""
        return sum(self._sizes[job.listing_json])

    def effort_of_each(self, job: Job) -> float:
        """The same by the jobs that are listed with it."""
        return self.effort(job) / self._number[job.listing_json]

    def of_all_sizes(self, job: Job) -> Listing:
        """Every candidate of the job's workload under its constraints, on all sizes that jobs like it accept."""
        key = job.listing_json
        if key not in self._of_all_sizes:
            self._on_priced(f"pricing candidates of {job.name}", len(self._of_all_sizes), len(self._sizes))
            self._price_alike(job)
            self._of_all_sizes[key] = self._listed(job, self._sizes[key])
        return self._of_all_sizes[key]

    def of(self, job: Job) -> Listing:
        """Every candidate of a job."""
        key = job.listing_json, job.sizes
        if key not in self._of_sizes:
            whole = self.of_all_sizes(job)
            rows = whole.of_sizes(job.sizes)
            self._of_sizes[key] = whole if len(rows) == len(whole) else whole.take(rows)
        return self._of_sizes[key]

    def _price_alike(self, job: Job) -> None:
        """With a serving job some of those that will be asked for, so that they can be priced at once."""
        if joining := _joining(job):
            others = (
                other for key, other in self._first.items()
                if key not in self._of_all_sizes and key != job.listing_json and _joining(other) == joining
            )  # fmt: skip
            number = TOGETHER if self._cluster.fabric.resetting_s is None else FEW_TOGETHER
            alike = [job, *islice(others, number - 1)]
            asked = [(each.workload, self._within(self._sizes[each.listing_json])) for each in alike]
            price_together(asked, self._cluster.device, self._cluster.fabric, _limits(job))

    def _listed(self, job: Job, sizes: Iterable[int]) -> Listing:
        cluster = self._cluster
        rows = listed_and_priced(job.workload, self._within(sizes), cluster.device, cluster.fabric, _limits(job))
        return Listing.of(*rows, job, cluster.fabric)

    def _within(self, sizes: Iterable[int]) -> list[int]:
        """Those that some job may have, ascending."""
        return [size for size in sorted(sizes) if size <= self._cluster.fabric.most_devices_of_a_job]


def _joining(job: Job) -> tuple[str, str] | None:
    """Jobs with the same one may be priced at once; None of a job that is priced alone."""
    key = joining_key(job.workload) if isinstance(job.workload, TransformerInference) else ""
    return (key, job.constraints_json) if key else None


def _limits(job: Job) -> Limits:
    return Limits.of(job.constraints)
