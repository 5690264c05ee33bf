"""Where training steps keep their pages: memories that jobs share, ways to them, what failed, what may stay."""

from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from costmodel.dataflow.networks.tensor_graph import TensorKind
from costmodel.dataflow.networks.training_step import Parallel
from costmodel.dataflow.networks.transformer_step import transformer_step
from costmodel.dataflow.streams.memory_study import MemoryStudy, load_memory_study
from costmodel.dataflow.streams.placement import Link
from costmodel.dataflow.streams.program import Program, operator_times_s
from costmodel.spec import Bytes, BytesPerSecond, Spec
from costmodel.workloads.transformer.shapes import load_model
from planner.model import files
from planner.model.errors import InputError
from planner.model.rank_step import CaseJob, PageCase

Name = Annotated[str, Field(min_length=1, max_length=100)]
MOST_PAGES = 2**20
"""of one tensor"""


class PageMemory(Spec):
    """A memory beside those of the devices: a memory node, a host, a pool."""

    capacity_bytes: Bytes | None = None
    """absent: it is never full"""
    failed: bool = False
    """whether it holds nothing"""


class Way(Spec):
    """Links of one device that lead to one memory."""

    memory: Name
    """where it leads, by name"""
    links: int = Field(default=1, ge=1)
    """of the device on this way"""
    failed_links: int = Field(default=0, ge=0)
    """of them"""
    bandwidth_bytes_per_s: BytesPerSecond | None = None
    """of one link in one direction; that of the study's device unless given"""
    shares_collectives: bool = False
    """whether collectives run over it as well, one thing at a time"""


class NetworkStep(Spec):
    """A step of a network of the study on one of its systems, which gives the collectives."""

    kind: Literal["network"]
    network: str
    """of the study"""
    parallel: Parallel = "data"
    """how its devices share the work"""
    system: str
    """of the study, whose collectives hold"""

    def program(self, study: MemoryStudy) -> Program:
        for field, known in (("network", study.networks), ("system", tuple(study.systems))):
            if (given := getattr(self, field)) not in known:
                raise ValueError(f"{field}: '{study.name}' has no {field} '{given}'; it has {', '.join(known)}")
        if not study.stores(self.system):
            raise ValueError(f"system: '{self.system}' has no store beside its devices; name one that has")
        return study.program(self.network, self.parallel, self.system)


class TransformerStep(Spec):
    """A step of a dense transformer on one device of the study, without collectives."""

    kind: Literal["transformer"]
    model: str
    """of the catalog"""
    micro_batch: int = Field(ge=1)
    """sequences of a step"""
    sequence: int = Field(ge=1)
    """tokens of each"""
    layers: int | None = Field(default=None, ge=1, le=10_000)
    """fewer than the model's, for a part of it"""
    tensors: tuple[TensorKind, ...] = ("activation",)
    """kinds of tensors that may be elsewhere"""

    def program(self, study: MemoryStudy) -> Program:
        graph = transformer_step(load_model(self.model), self.micro_batch, self.sequence, layers=self.layers)
        times_s = operator_times_s(graph, study.array())
        return Program(graph, times_s, np.zeros(len(times_s)), graph.absences(self.tensors))


class PageJob(Spec):
    """One device of a tenant's job; its other devices do the same with memories of their own."""

    name: Name
    """unique in the file"""
    step: Annotated[NetworkStep | TransformerStep, Field(discriminator="kind")]
    """what one device executes"""
    ways: tuple[Way, ...] = Field(min_length=1)
    """from the device to memories"""
    local_bytes: Bytes = 0.0
    """of the device's own memory, for pages that stay in it while they are not used"""
    may_remake: bool = True
    """whether a tensor may be dropped and made again"""
    weight: float = Field(default=1.0, gt=0, le=1e6)
    """of its step's time in what is minimized"""


class PageInstance(Spec):
    """All that a placement of pages is planned from."""

    kind: Literal["pages"]
    schema_version: Literal[1]
    """of the file format"""
    name: Name
    """of the instance"""
    description: str = ""
    """for people"""
    study: str
    """of the catalog: devices, systems, networks, and how copies are scheduled"""
    page_bytes: Bytes = Field(gt=0)
    """size of a page"""
    memories: dict[Name, PageMemory] = Field(min_length=1)
    """by name"""
    jobs: tuple[PageJob, ...] = Field(min_length=1)
    """whose pages are placed"""

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        for name, count in Counter(job.name for job in self.jobs).items():
            if count > 1:
                raise ValueError(f"jobs: the name '{name}' is used {count} times; names must differ")
        try:
            assert self.loaded_study
        except ValueError as error:
            raise ValueError(f"study: {error}") from None
        for job in self.jobs:
            try:
                self._check_ways(job)
                program = self.programs[job.name]
            except ValueError as error:
                raise ValueError(f"jobs[{job.name}].{error}") from None
            if program.size_bytes.max(initial=0.0) > MOST_PAGES * self.page_bytes:
                raise ValueError(f"page: a tensor of '{job.name}' has more than {MOST_PAGES} pages; make them larger")
        return self

    def _check_ways(self, job: PageJob) -> None:
        for way in job.ways:
            if way.memory not in self.memories:
                raise ValueError(f"ways: there is no memory '{way.memory}'; known: {', '.join(self.memories)}")
            if way.failed_links > way.links:
                raise ValueError(f"ways: {way.failed_links} of {way.links} links to '{way.memory}' failed; correct it")
        for memory, count in Counter(way.memory for way in job.ways).items():
            if count > 1:
                raise ValueError(f"ways: {count} lead to '{memory}'; give one with all its links")

    @cached_property
    def loaded_study(self) -> MemoryStudy:
        return load_memory_study(self.study)

    @cached_property
    def programs(self) -> dict[str, Program]:
        """What one device of each job executes in a step."""
        return {job.name: job.step.program(self.loaded_study) for job in self.jobs}

    def job(self, name: str) -> PageJob:
        for job in self.jobs:
            if job.name == name:
                return job
        names = ", ".join(job.name for job in self.jobs)
        raise InputError(self.name, "job", f"there is no job '{name}'; jobs are: {names}")

    @cached_property
    def case(self) -> PageCase:
        """What a placement decides on."""
        jobs = tuple(
            CaseJob(
                name=job.name,
                program=self.programs[job.name],
                links=tuple(self.links(job)),
                local_bytes=job.local_bytes,
                may_remake=job.may_remake,
                weight=job.weight,
            )
            for job in self.jobs
        )
        capacity_bytes = {name: memory.capacity_bytes for name, memory in self.memories.items()}
        return PageCase(self.name, self.page_bytes, capacity_bytes, jobs, self.loaded_study.rules)

    def links(self, job: PageJob) -> Iterator[Link]:
        """Ways over which pages can go, each named after the memory that it leads to."""
        link_bytes_per_s = self.loaded_study.array().link_bytes_per_s
        for way in job.ways:
            working = way.links - way.failed_links
            if working and not self.memories[way.memory].failed:
                bandwidth = working * (way.bandwidth_bytes_per_s or link_bytes_per_s)
                yield Link(name=way.memory, bandwidth_bytes_per_s=bandwidth, shares_collectives=way.shares_collectives)

    @classmethod
    def load(cls, path: str | Path) -> "PageInstance":
        """Read and validate a JSON or YAML file; InputError names file, field and remedy."""
        return files.load(cls, path)

    @classmethod
    def parse(cls, data: dict[str, Any], name: str = "pages") -> "PageInstance":
        """Validate an instance given as nested dicts."""
        return files.validate(cls, data, name)
