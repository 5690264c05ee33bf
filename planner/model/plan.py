"""The decisions, by name: which job runs how, on which devices, over which circuits."""

from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import AliasChoices, Field

from costmodel.parallelism.configuration import Configuration
from costmodel.spec import Bytes, Seconds, Spec, Watts
from planner.model import files
from planner.model.page_plan import TensorPages


class Circuit(Spec):
    """Light from one device to another, on the same wavelengths all the way."""

    source: str = Field(validation_alias=AliasChoices("from", "source"), serialization_alias="from")
    """device that sends"""
    destination: str = Field(validation_alias=AliasChoices("to", "destination"), serialization_alias="to")
    """device that receives"""
    wavelengths: tuple[int, ...] = Field(min_length=1)
    """indices from 0, ascending"""
    fibers: tuple[str, ...] = ()
    """fibers on the way, such as s0>s1#2, or the optical switch of a torus, such as x3; none inside a server"""


Made = TypeVar("Made", bound=Spec)
_FIELDS = {*Circuit.model_fields}
_set = object.__setattr__


def circuit_of(source: str, destination: str, wavelengths: tuple[int, ...], fibers: tuple[str, ...]) -> Circuit:
    """A circuit of values that are known to be right, so that the many of a plan share what is equal."""
    values = {"source": source, "destination": destination, "wavelengths": wavelengths, "fibers": fibers}
    return _made(Circuit, values, _FIELDS)


class HeldCircuits(Spec):
    """Circuits of one job that are on at the same time."""

    dimension: Literal["tensor", "pipeline", "data", "context", "expert", "slice"]
    """slice: circuits that join the slice itself, for all dimensions"""
    phase: str | None = Field(default=None, exclude_if=lambda phase: phase is None)
    """the one phase of the workload (prefill, decode), or the one turn of a step, in which they are on; absent: in
    all"""
    circuits: tuple[Circuit, ...]
    """of this dimension"""


class MemoryCircuit(Spec):
    """Light both ways between one I/O of an accelerator and one port of a memory tray, and the units behind it."""

    device: str
    """the accelerator"""
    rail: int = Field(ge=0)
    """of the I/O and the port"""
    port: str
    """of the tray, such as s0.m2.q3#0"""
    units: tuple[str, ...] = Field(min_length=1)
    """units of this tray that belong to the device, such as s0.m2.u5"""
    phase: str | None = Field(default=None, exclude_if=lambda phase: phase is None)
    """the one phase of the workload in which it is on; absent: in all"""


class RackCircuit(Spec):
    """Light from one rack to another, over one optical switch or one fiber of the layer above racks."""

    source: str = Field(validation_alias=AliasChoices("from", "source"), serialization_alias="from")
    """a rack, such as r0, or its port at a switch, such as r0.p3"""
    destination: str = Field(validation_alias=AliasChoices("to", "destination"), serialization_alias="to")
    """likewise"""
    over: str
    """optical switch, such as u3, or fiber, such as r0>r1#2"""
    wavelengths: tuple[int, ...] = Field(default=(), exclude_if=lambda wavelengths: not wavelengths)
    """of a fiber, indices from 0, ascending"""


class SecondTier(Spec):
    """Where the tensors of one rank are while they are not used; all ranks do the same, each in its own part of the
    tier. The times repeat what a search found, for readers; `step_s` is that of the simulated step."""

    memory: str
    """its name"""
    page_bytes: Bytes
    """size of a page"""
    tensors: tuple[TensorPages, ...]
    """by the operator of the step after which they leave"""
    step_s: Seconds
    """of the simulated step"""
    bound_s: Seconds
    """no placement of these tensors takes less"""
    is_proven: bool = False
    """whether both are one, but for rounding of the search"""
    rules: dict[str, Seconds] = Field(default_factory=dict)
    """what simple rules for the same tensors take"""
    without_s: Seconds | None = None
    """fastest step of the job on no more devices that leaves the tier alone; absent where none fits in memory"""

    @property
    def gap(self) -> float:
        """How far from the fastest the placement may be, over its time."""
        return 0.0 if self.step_s <= 0 else max(self.step_s - self.bound_s, 0.0) / self.step_s


class Assignment(Spec):
    """One admitted job: its configuration, the device of each rank, and its circuits by configuration.

    `circuits` holds the configurations of the tensor, then the pipeline, then the data dimension, each in
    the order of its rounds. What follows `circuits` repeats what the cost model says, for readers.
    """

    job: str
    """its name"""
    configuration: Configuration
    """in which it runs"""
    devices: tuple[str, ...]
    """in the order of ranks"""
    circuits: tuple[HeldCircuits, ...] = ()
    """by dimension, then by configuration in the order of rounds"""
    memory: tuple[MemoryCircuit, ...] = ()
    """of every rank in turn, where memory is remote"""
    upper: tuple[RackCircuit, ...] = Field(default=(), exclude_if=lambda circuits: not circuits)
    """between its racks, where these are several; packets have none"""
    second_tier: SecondTier | None = None
    """of a configuration that offloads"""
    is_moved: bool = False
    """whether a resident leaves its current devices, configuration or circuits"""
    value: float = 0.0
    """in the objective `value`"""
    speed: float = 0.0
    """units of work per second"""
    step_s: Seconds = 0.0
    """of one step, or of one output token where it serves"""
    energy_per_work: float = 0.0
    """joules per unit of work"""
    power_w: Watts = 0.0
    """of all its devices and links"""


def placed(scored: Assignment, **place: Any) -> Assignment:
    """An assignment with these fields replaced, which it was given before, too, by values that are known to be
    right."""
    return _made(Assignment, scored.__dict__ | place, scored.__pydantic_fields_set__)


def _made(kind: type[Made], values: dict[str, Any], given: set[str]) -> Made:
    """Not validated: given what `__setstate__` of pydantic gives one that was pickled, in a third of the time of
    `model_construct`."""
    made = kind.__new__(kind)
    _set(made, "__dict__", values)
    _set(made, "__pydantic_fields_set__", given)
    _set(made, "__pydantic_extra__", None)
    _set(made, "__pydantic_private__", None)
    return made


class SwitchState(Spec):
    """What one optical switch connects."""

    switch: str
    """its name"""
    connections: tuple[tuple[str, str], ...]
    """(input, output): I/Os of devices by the device's name, ports of trays, uplinks; sorted"""


class PhaseChange(Spec):
    """What switches undo and make when a job goes to another phase of its workload; undone again on the way back."""

    job: str
    """its name"""
    phase: str
    """that begins"""
    time_s: Seconds
    """of the change"""
    undone: tuple[SwitchState, ...] = ()
    """circuits that it undoes"""
    made: tuple[SwitchState, ...] = ()
    """circuits that it makes"""


class SwitchSetting(Spec):
    """The one change of all switches before new jobs start; switches that connect nothing are left out."""

    time_s: Seconds
    """to set them all"""
    before: tuple[SwitchState, ...] = ()
    """residents in their first phase"""
    after: tuple[SwitchState, ...] = ()
    """all jobs in their first phase"""
    phases: tuple[PhaseChange, ...] = Field(default=(), exclude_if=lambda changes: not changes)
    """of jobs with a setting of their own in the first phase"""


class Plan(Spec):
    """All admitted jobs of an instance, and the objective values that the plan claims."""

    schema_version: Literal[1] = 1
    """of the file format"""
    instance: str
    """its name"""
    assignments: tuple[Assignment, ...] = ()
    """one for each admitted job"""
    objectives: dict[str, float] = Field(default_factory=dict)
    """value of each objective, by name"""
    switches: SwitchSetting | None = None
    """where memory is pooled behind optical switches"""

    def __getitem__(self, job: str) -> Assignment:
        """Assignment of a job; KeyError where it is not admitted."""
        for assignment in self.assignments:
            if assignment.job == job:
                return assignment
        raise KeyError(job)

    def __contains__(self, job: object) -> bool:
        """Whether a job of this name is admitted."""
        return any(assignment.job == job for assignment in self.assignments)

    @property
    def admitted(self) -> tuple[str, ...]:
        return tuple(assignment.job for assignment in self.assignments)

    @classmethod
    def load(cls, path: str | Path) -> "Plan":
        """Read a plan, or the plan inside what `planner solve --json` printed."""
        remedy = "`planner solve INSTANCE --plan-out FILE` writes a plan"
        data = files.parse_text(files.read_text(Path(path), remedy=remedy), str(path))
        inner = data.get("plan", data) if "assignments" not in data else data
        return files.validate(cls, inner, str(path))

    def dump(self, path: str | Path) -> None:
        Path(path).write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")
