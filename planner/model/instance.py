"""One self-contained input file: the cluster, who wants to run, who runs already, and what counts."""

import importlib.resources
import json
from collections import Counter
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from costmodel.spec import Spec
from planner.model import files
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.job import Job, Resident
from planner.model.job_table import names_table, read_job_table
from planner.model.resident_check import check_residents
from planner.model.schema_versions import upgraded

ObjectiveName = Literal["value", "moves", "energy", "fragmentation"]


def _fraction(value: object) -> object:
    if isinstance(value, str) and value.strip().endswith("%"):
        return float(value.strip().removesuffix("%")) / 100
    return value


TableName = Annotated[str, Field(pattern=r"\.(csv|parquet)$")]


def _no_table(value: object) -> object:
    if names_table(value):
        raise ValueError("names a table, which is read with the file that names it; load that file, or list the jobs")
    return value


class Objective(Spec):
    """One level of the lexicographic order."""

    name: ObjectiveName
    """what is made best at this level"""
    tolerance: Annotated[float, BeforeValidator(_fraction)] = Field(default=0.0, ge=0, le=1)
    """fraction of its optimum that the next levels may spend, such as 0.5 %"""


class Instance(Spec):
    """All that the planner is told."""

    schema_version: Literal[1, 2]
    """of the file format; both are read alike"""
    name: str = Field(min_length=1, max_length=100)
    """of the instance, shown in reports"""
    description: str = ""
    """for people"""
    cluster: Cluster
    """the hardware"""
    jobs: Annotated[
        tuple[Job, ...], BeforeValidator(_no_table, json_schema_input_type=tuple[Job, ...] | TableName)
    ] = ()
    """or, in a file, the name of a table of them beside it: .csv or .parquet, a row for each job"""
    residents: tuple[Resident, ...] = ()
    """jobs that run already, with what they hold"""
    objectives: tuple[
        Annotated[Objective, BeforeValidator(lambda v: {"name": v} if isinstance(v, str) else v,
                                             json_schema_input_type=ObjectiveName | Objective)],
        ...,
    ] = Field(default_factory=lambda given: _default_objectives(given.get("cluster")))  # fmt: skip
    """default: value, moves, energy and, where the fabric has a measure of it, fragmentation"""
    placed_steps: bool = False
    """whether a training job that offloads is worth its step with tensors placed page by page, not the scored one"""
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
        where = "the cluster" if fabric.links_racks or fabric.upper_layer else "a rack"
        for job in self.all_jobs:
            if min(job.sizes, default=0) > limit:
                raise ValueError(
                    f"jobs[{job.name}].accelerators: needs at least {min(job.sizes)} accelerators, but "
                    f"{where} has {limit}; ask for fewer"
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
    def jobs_by_name(self) -> dict[str, Job]:
        """Residents and jobs that wait."""
        return {job.name: job for job in self.all_jobs}

    @cached_property
    def sizes_asked(self) -> dict[tuple[str, str], tuple[int, ...]]:
        """Sizes that jobs of equal workload and constraints accept, ascending, by both as JSON."""
        asked: dict[tuple[str, str], set[int]] = {}
        for job in self.all_jobs:
            asked.setdefault((job.workload_json, job.constraints_json), set()).update(job.sizes)
        return {key: tuple(sorted(sizes)) for key, sizes in asked.items()}

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
        """Read and validate a JSON or YAML file, and the table of jobs beside it if it names one.

        InputError names file, field (of a table line and column) and remedy.
        """
        data = files.read_fields(cls, path)
        made = cls.of_file(data, Path(path))
        files.warn_of_missing_units(made, data, str(path))
        return made

    @classmethod
    def of_file(cls, data: dict[str, Any], path: Path) -> "Instance":
        """Validate what a file holds, and the table of jobs that it names by a path from its own folder."""
        if not names_table(data.get("jobs")):
            return cls.parse(data, str(path))
        table = read_job_table(path.parent / data["jobs"])
        listed = data | {"jobs": table.validated()}
        try:
            made = cls.parse(listed, str(path))
        except InputError as error:
            raise table.located(error) from None
        files.warn_of_missing_units(made, {"jobs": listed["jobs"]}, str(table.rows.path))
        return made

    @classmethod
    def parse(cls, data: dict[str, Any], name: str = "instance") -> "Instance":
        """Validate an instance given as nested dicts."""
        return files.validate(cls, upgraded(data), name)

    def job(self, name: str) -> Job:
        if name in self.jobs_by_name:
            return self.jobs_by_name[name]
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
