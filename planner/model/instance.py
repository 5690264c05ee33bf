"""One self-contained input file: the cluster, who wants to run, who runs already, and what counts."""

import importlib.resources
import json
from collections import Counter
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from costmodel.parallelism.configuration import Configuration
from costmodel.spec import Seconds, Spec
from costmodel.workloads import Workload
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.plan import HeldCircuits, MemoryCircuit
from planner.model.resident_check import check_residents

ObjectiveName = Literal["value", "moves", "energy", "fragmentation"]
MOST_ACCELERATORS = 2**20
Accelerators = Annotated[int, Field(ge=1, le=MOST_ACCELERATORS)]
Utility = Literal["sqrt", "linear", "step"]


def _fraction(value: object) -> object:
    if isinstance(value, str) and value.strip().endswith("%"):
        return float(value.strip().removesuffix("%")) / 100
    return value


class Objective(Spec):
    """One level of the lexicographic order."""

    name: ObjectiveName
    tolerance: Annotated[float, BeforeValidator(_fraction)] = Field(default=0.0, ge=0, le=1)
    """fraction of its optimum that the next levels may spend, such as 0.5 %"""


class Range(Spec):
    """Every size from min to max."""

    min: int = Field(ge=1, le=MOST_ACCELERATORS)
    max: int = Field(ge=1, le=MOST_ACCELERATORS)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        return self


class JobConstraints(Spec):
    """Limits that the user puts on a job."""

    one_server: bool = False
    collective: Literal["ring", "radix", "exchange", "bucket", "rotated"] | None = None
    """the only kind of all-reduce that the job may use"""
    one_setting: bool = Field(default=False, exclude_if=lambda flag: not flag)
    """whether the job keeps its circuits and memory through all phases of its workload"""
    per_server: Accelerators | None = Field(default=None, exclude_if=lambda number: number is None)
    """accelerators that each server of the job gives, no more and no fewer"""


class Reference(Spec):
    """What value and energy of a job are measured against, so that they compare with those of another cluster."""

    speed: float = Field(gt=0)
    """units of work (tokens, samples) per second"""
    energy_per_work: float = Field(gt=0)
    """joules per unit of work"""


class Job(Spec):
    """A tenant's request."""

    name: str = Field(min_length=1, max_length=100)
    tenant: str = "default"
    workload: Workload
    accelerators: Accelerators | tuple[Accelerators, ...] | Range
    """a number, a list, or {min, max}"""
    weight: float = Field(default=1.0, gt=0, le=1e6)
    required: bool = False
    utility: Utility = "sqrt"
    """value = weight x utility(speed / speed of the reference)"""
    step_at: float = Field(default=0.5, gt=0, le=1)
    """fraction of the reference's speed from which a step utility pays"""
    reference: Reference | None = Field(default=None, exclude_if=lambda reference: reference is None)
    """default: the fastest speed and the least energy among the job's candidates on this cluster"""
    constraints: JobConstraints = JobConstraints()
    duration_s: Seconds | None = None
    earliest_start_s: Seconds = 0.0
    deadline_s: Seconds | None = None

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of accelerators that the job accepts, ascending."""
        if isinstance(self.accelerators, int):
            return (self.accelerators,)
        if isinstance(self.accelerators, Range):
            return tuple(range(self.accelerators.min, self.accelerators.max + 1))
        return tuple(sorted(set(self.accelerators)))


class Resident(Job):
    """A job that runs already: its devices in rank order, its configuration and its circuits."""

    devices: tuple[str, ...] = Field(min_length=1)
    configuration: Configuration
    circuits: tuple[HeldCircuits, ...] = ()
    memory: tuple[MemoryCircuit, ...] = ()
    """of its ranks, where memory is remote"""
    movable: bool = True
    move_cost: float = Field(default=1.0, ge=0, le=1e6)


class Instance(Spec):
    """All that the planner is told."""

    schema_version: Literal[1]
    name: str = Field(min_length=1, max_length=100)
    description: str = ""
    cluster: Cluster
    jobs: tuple[Job, ...] = ()
    residents: tuple[Resident, ...] = ()
    objectives: tuple[
        Annotated[Objective, BeforeValidator(lambda v: {"name": v} if isinstance(v, str) else v,
                                             json_schema_input_type=ObjectiveName | Objective)],
        ...,
    ] = Field(default_factory=lambda given: _default_objectives(given.get("cluster")))  # fmt: skip
    """default: value, moves, energy and, where the fabric has a measure of it, fragmentation"""
    size_distribution: dict[int, float] | None = None
    """relative frequency of job sizes that fragmentation is measured with; default: a public trace"""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        names = Counter(job.name for job in self.all_jobs)
        for name, count in names.items():
            if count > 1:
                raise ValueError(f"jobs: the name '{name}' is used {count} times; names must differ")
        if not names:
            raise ValueError("jobs: there is nothing to plan; give at least one job")
        if not self.objectives:
            raise ValueError("objectives: the list is empty; give at least one, such as value")
        twice = [name for name, count in Counter(o.name for o in self.objectives).items() if count > 1]
        if twice:
            raise ValueError(f"objectives: {twice[0]} is listed twice; list each once")
        fabric = self.cluster.fabric
        if not fabric.measures_fragmentation and any(o.name == "fragmentation" for o in self.objectives):
            raise ValueError(f"objectives: fragmentation is not defined on a {fabric.kind}; leave it out")
        limit = fabric.most_devices_of_a_job
        for job in self.all_jobs:
            if min(job.sizes, default=0) > limit:
                raise ValueError(
                    f"jobs[{job.name}].accelerators: needs at least {min(job.sizes)} accelerators, but "
                    f"{'the cluster' if fabric.links_racks else 'a rack'} has {limit}; ask for fewer"
                )
            if not job.sizes:
                raise ValueError(f"jobs[{job.name}].accelerators: the list is empty; give at least one size")
        for size, share in self.sizes_to_fit.items():
            if size < 1 or share < 0:
                raise ValueError(f"size_distribution: {size}: {share} is no size with a frequency")
        if not self.sizes_to_fit:
            raise ValueError("size_distribution: no size fits into two servers; give at least one that does")
        check_residents(self.cluster, self.residents)
        return self

    @property
    def all_jobs(self) -> tuple[Job, ...]:
        """Residents first, then the jobs that wait."""
        return (*self.residents, *self.jobs)

    @cached_property
    def sizes_to_fit(self) -> dict[int, float]:
        """Share of each job size for fragmentation, sizes above two servers left out, summing to 1."""
        given = self.size_distribution if self.size_distribution is not None else default_sizes()
        largest = 2 * self.cluster.fabric.devices_per_server
        kept = {size: share for size, share in sorted(given.items()) if size <= largest}
        total = sum(kept.values())
        return {size: share / total for size, share in kept.items()} if total > 0 else {}

    @classmethod
    def load(cls, path: str | Path) -> "Instance":
        """Read and validate a JSON or YAML file; InputError names file, field and remedy."""
        return files.load(cls, path)

    @classmethod
    def parse(cls, data: dict[str, Any], name: str = "instance") -> "Instance":
        """Validate an instance given as nested dicts."""
        return files.validate(cls, data, name)

    def job(self, name: str) -> Job:
        for job in self.all_jobs:
            if job.name == name:
                return job
        names = ", ".join(job.name for job in self.all_jobs)
        raise InputError(self.name, "job", f"there is no job '{name}'; jobs are: {names}")


def _default_objectives(cluster: Cluster | None) -> tuple[Objective, ...]:
    has_measure = cluster is None or cluster.fabric.measures_fragmentation
    names: tuple[ObjectiveName, ...] = ("value", "moves", "energy", "fragmentation")
    return tuple(Objective(name=name) for name in names if has_measure or name != "fragmentation")


@cache
def default_sizes() -> dict[int, float]:
    """Job sizes of a public trace, by number of jobs."""
    text = importlib.resources.files("planner.catalog").joinpath("job_sizes.json").read_text("utf-8")
    return {int(size): float(count) for size, count in json.loads(text)["jobs_of_size"].items()}
