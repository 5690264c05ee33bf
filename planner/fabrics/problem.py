"""Problem: all that a policy ever sees."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.score import Scores
from planner.fabrics.demands import RowDemands
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.job import Job, Reference, Resident
from planner.model.plan import Assignment, Circuit, HeldCircuits, MemoryCircuit, RackCircuit, placed

Floats = NDArray[np.float64]


def must_run(job: Job) -> bool:
    """True if every plan has the job: it is required, or runs already."""
    return job.required or job.runs_already


@dataclass(frozen=True)
class JobOptions:
    """Ways to run one job: rows of candidates with scores and objective columns of shape (C,).

    `shapes` are what the rows ask for; `value` is weight x utility; `energy` is weight x joules per unit of work over
    those of the job's reference.
    """

    job: Job
    fabric: FabricBase
    candidates: Candidates
    scores: Scores
    shapes: RowDemands
    reference: Reference
    value: Floats
    energy: Floats
    num_listed: int
    current: int | None = None
    """row of a resident's current configuration"""
    can_stay: bool = False
    is_listed: bool = True
    """whether all its candidates are here"""
    is_bounded: bool = True
    """whether each candidate that is missing, and that servers may hold, has one here that is worth no less with
    as many accelerators in blocks as large, over as many racks and links, with as much memory; without, those may have
    any value up to `most_value`"""
    short: NDArray[np.bool_] | None = None
    """which rows are the short list, shape (C,), where it was made of all candidates of these sizes"""
    _known: dict[int, Assignment] = field(default_factory=dict, init=False, repr=False, compare=False)
    """rows as they stand in a plan, but for the job and its place; one of all jobs that are alike"""

    def __len__(self) -> int:
        return len(self.value)

    def of(self, job: Job, *, can_stay: bool = False) -> "JobOptions":
        """Those of a job that differs in its name and tenant alone, and in where it runs if it does."""
        twin = object.__new__(JobOptions)
        twin.__dict__.update(self.__dict__, job=job, can_stay=can_stay)
        return twin

    @cached_property
    def in_rack(self) -> "JobOptions":
        """What each row asks for in each of its racks."""
        return replace(self, shapes=self.shapes.in_rack, current=None, can_stay=False)

    @property
    def must_run(self) -> bool:
        return must_run(self.job)

    @property
    def must_stay(self) -> bool:
        return isinstance(self.job, Resident) and not self.job.movable

    @property
    def most_value(self) -> float:
        """The most that the job is worth, whether all its candidates are here or not."""
        return float(self.value.max(initial=0.0)) if len(self) else self.job.weight

    @cached_property
    def links(self) -> NDArray[np.int64]:
        """Links that each row holds of all parts of the layer above racks together, shape (C,)."""
        c, upper = self.candidates, self.fabric.upper_layer
        if upper is None or not c.links.any():
            return np.zeros(len(c), np.int64)
        parts = [upper.num_parts(racks) for racks in range(int(c.racks.max()) + 1)]
        return np.asarray(np.array(parts, np.int64)[c.racks] * c.links)

    def rows_by_value(self) -> Sequence[int]:
        """Rows from the most valuable to the least; the fewest accelerators first among equals."""
        return [int(row) for row in np.lexsort((self.candidates.num_devices, -self.value))]

    def assignment(
        self,
        row: int,
        devices: Sequence[str],
        circuits: Sequence[HeldCircuits],
        memory: Sequence[MemoryCircuit] = (),
        upper: Sequence[RackCircuit] = (),
    ) -> Assignment:
        """The row as it stands in a plan; a resident that runs exactly as before is not moved."""
        is_moved = isinstance(self.job, Resident) and not (
            row == self.current
            and tuple(devices) == self.job.devices
            and _unordered(circuits) == _unordered(self.job.circuits)
            and frozenset(memory) == frozenset(self.job.memory)
            and frozenset(upper) == frozenset(self.job.upper)
        )
        place = {"devices": tuple(devices), "circuits": tuple(circuits), "memory": tuple(memory), "upper": tuple(upper)}
        return placed(self._scored(row), job=self.job.name, **place, is_moved=is_moved)

    def _scored(self, row: int) -> Assignment:
        """The row without a place."""
        if row not in self._known:
            scores = self.scores.take(slice(row, row + 1))
            self._known[row] = Assignment(
                job=self.job.name,
                configuration=self.candidates.configuration(row),
                devices=(),
                circuits=(),
                memory=(),
                upper=(),
                is_moved=False,
                value=float(self.value[row]),
                speed=float(scores.speed[0]),
                step_s=float(scores.step_s[0]),
                energy_per_work=float(scores.energy_per_work_j[0]),
                power_w=float(scores.power_w[0]),
            )
        return self._known[row]

    def staying(self) -> Assignment:
        """A resident exactly as it runs now."""
        assert isinstance(self.job, Resident)
        assert self.current is not None
        job = self.job
        held = {"devices": job.devices, "circuits": job.circuits, "memory": job.memory, "upper": job.upper}
        return placed(self._scored(self.current), job=job.name, **held)

    @cached_property
    def _known_rows(self) -> dict[Configuration, int | None]:
        return {}

    def row_of(self, configuration: Configuration) -> int | None:
        """Row of a configuration, None where it is not among the candidates."""
        if isinstance(self.job, Resident) and self.current is not None and configuration == self.job.configuration:
            return self.current
        if configuration not in self._known_rows:
            self._known_rows[configuration] = row_of(self.candidates, configuration)
        return self._known_rows[configuration]

    def take(self, rows: NDArray[np.int64]) -> "JobOptions":
        """Only the given rows, in ascending order; a resident's current row must be among them."""
        return replace(
            self,
            candidates=self.candidates.take(rows),
            scores=self.scores.take(rows),
            shapes=self.shapes.take(rows),
            value=self.value[rows],
            energy=self.energy[rows],
            current=None if self.current is None else int(np.searchsorted(rows, self.current)),
            short=None if self.short is None else self.short[rows],
        )


def row_of(candidates: Candidates, configuration: Configuration) -> int | None:
    """Row of a configuration, None where it is not among the candidates."""
    is_alike = candidates.block == configuration.block
    for name in ("tensor", "pipeline", "data", "context", "expert", "micro_batch"):
        is_alike = is_alike & (getattr(candidates.mappings, name)[candidates.mapping] == getattr(configuration, name))
    alike = np.flatnonzero(is_alike).tolist()
    return next((row for row in alike if candidates.configuration(row) == configuration), None)


def _unordered(circuits: Sequence[HeldCircuits]) -> list[tuple[str, str | None, frozenset[Circuit]]]:
    return [(held.dimension, held.phase, frozenset(held.circuits)) for held in circuits]


@dataclass(frozen=True)
class Problem:
    """Instance, candidates and scores; `options` follow `instance.all_jobs`."""

    instance: Instance
    options: tuple[JobOptions, ...]
    relaxations: dict[type, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """what was found once of all candidates, by its type"""

    @property
    def cluster(self) -> Cluster:
        return self.instance.cluster

    @cached_property
    def options_by_name(self) -> dict[str, JobOptions]:
        """Options by the name of their job."""
        return {options.job.name: options for options in self.options}

    @cached_property
    def num_candidates(self) -> int:
        return sum(len(options) for options in self.options)

    @property
    def num_dominated(self) -> int:
        return sum(options.num_listed for options in self.options) - self.num_candidates
