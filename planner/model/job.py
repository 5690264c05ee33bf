"""One job of an instance: what it asks for, and how it runs where it runs already."""

from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from costmodel.parallelism.configuration import Configuration
from costmodel.pricing.servers_by_rack import ServersByRack
from costmodel.spec import Seconds, Spec
from costmodel.workloads import Workload
from planner.model.plan import HeldCircuits, MemoryCircuit, RackCircuit

MOST_ACCELERATORS = 2**20
Accelerators = Annotated[int, Field(ge=1, le=MOST_ACCELERATORS)]
Utility = Literal["sqrt", "linear", "step"]
JOB_CLASS_FIELDS = {"workload", "accelerators", "constraints", "utility", "step_at", "reference"}
"""fields of a job that its candidates and their order depend on, and the rules where nothing else runs; its weight
multiplies every value alike"""


class Range(Spec):
    """Every size from min to max."""

    min: int = Field(ge=1, le=MOST_ACCELERATORS)
    """fewest accelerators"""
    max: int = Field(ge=1, le=MOST_ACCELERATORS)
    """most accelerators"""

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"min {self.min} is above max {self.max}")
        return self


class JobConstraints(Spec):
    """Limits that the user puts on a job."""

    one_server: bool = False
    """whether all accelerators of the job lie in one server"""
    collective: Literal["ring", "radix", "exchange", "circulant", "bucket", "rotated"] | None = None
    """the only kind of all-reduce that the job may use"""
    one_setting: bool = Field(default=False, exclude_if=lambda flag: not flag)
    """whether the job keeps its circuits and memory through all phases of its workload"""
    per_server: Accelerators | None = Field(default=None, exclude_if=lambda number: number is None)
    """accelerators that each server of the job gives, no more and no fewer"""
    servers_by_rack: ServersByRack | None = Field(default=None, exclude_if=lambda asked: asked is None)
    """servers that the job takes of racks, where `per_server` is given: [1, 3, 4], of any three racks, or
    {min: 2, max: 4} of each rack that it uses"""

    @model_validator(mode="after")
    def _counts_servers(self) -> Self:
        if self.servers_by_rack is not None and self.per_server is None:
            raise ValueError("servers_by_rack: needs per_server, what each of these servers gives; add it")
        return self

    @cached_property
    def as_json(self) -> str:
        """All of them; jobs without limits share the object, and its text."""
        return self.model_dump_json()


class Reference(Spec):
    """What value and energy of a job are measured against, so that they compare with those of another cluster."""

    speed: float = Field(gt=0)
    """units of work (tokens, samples) per second"""
    energy_per_work: float = Field(gt=0)
    """joules per unit of work"""


class Job(Spec):
    """A tenant's request."""

    runs_already: ClassVar[bool] = False
    """whether it is a resident"""

    name: str = Field(min_length=1, max_length=100)
    """unique in the instance"""
    tenant: str = "default"
    """who asks, for quotas and shares"""
    workload: Workload
    """what runs: training, inference or recommendation, and its sizes"""
    accelerators: Accelerators | tuple[Accelerators, ...] | Range
    """a number, a list, or {min, max}"""
    weight: float = Field(default=1.0, gt=0, le=1e6)
    """how much the job counts in value and energy"""
    required: bool = False
    """whether a plan without the job is no plan"""
    utility: Utility = "sqrt"
    """value = weight x utility(speed / speed of the reference)"""
    step_at: float = Field(default=0.5, gt=0, le=1)
    """fraction of the reference's speed from which a step utility pays"""
    reference: Reference | None = Field(default=None, exclude_if=lambda reference: reference is None)
    """default: the fastest speed and the least energy among the job's candidates on this cluster"""
    constraints: JobConstraints = JobConstraints()
    """limits on where and how it runs"""
    duration_s: Seconds | None = None
    """limit of its run, for replay and the controller"""
    earliest_start_s: Seconds = 0.0
    """from when it may start, after the time zero of the file"""
    deadline_s: Seconds | None = None
    """by when it should have ended"""

    @model_validator(mode="before")
    @classmethod
    def _says_limits_of_its_workload(cls, given: object) -> object:
        if isinstance(given, Mapping) and "limits" in given:
            raise ValueError("limits: belong to the workload of a serving job; write them there, beside concurrency")
        return given

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Numbers of accelerators that the job accepts, ascending."""
        if isinstance(self.accelerators, int):
            return (self.accelerators,)
        if isinstance(self.accelerators, Range):
            return tuple(range(self.accelerators.min, self.accelerators.max + 1))
        return tuple(sorted(set(self.accelerators)))

    @property
    def workload_json(self) -> str:
        return self.workload.as_json

    @cached_property
    def constraints_json(self) -> str:
        return self.constraints.as_json

    @cached_property
    def listing_json(self) -> str:
        """All that the candidates of the job depend on, on one cluster, but its sizes."""
        return f"{self.workload_json} {self.constraints_json}"

    @cached_property
    def job_class_json(self) -> str:
        """The fields of `JOB_CLASS_FIELDS` as JSON: the same for all jobs of one class."""
        return self.model_dump_json(include=JOB_CLASS_FIELDS)


class Resident(Job):
    """A job that runs already: its devices in rank order, its configuration and its circuits."""

    runs_already: ClassVar[bool] = True

    devices: tuple[str, ...] = Field(min_length=1)
    """that it holds, in the order of its ranks"""
    configuration: Configuration
    """in which it runs"""
    circuits: tuple[HeldCircuits, ...] = ()
    """that it holds, by dimension"""
    memory: tuple[MemoryCircuit, ...] = ()
    """of its ranks, where memory is remote"""
    upper: tuple[RackCircuit, ...] = Field(default=(), exclude_if=lambda circuits: not circuits)
    """between its racks, where these are several"""
    movable: bool = True
    """whether it may move to other devices"""
    move_cost: float = Field(default=1.0, ge=0, le=1e6)
    """price of its move in the objective `moves`"""
