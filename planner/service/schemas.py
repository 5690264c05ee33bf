"""What is answered: decisions, jobs and errors, in types that OpenAPI shows."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from costmodel.parallelism.configuration import Configuration
from planner.controller import Decision, Move, Start, Stop
from planner.controller.decisions import Tag, Why
from planner.controller.durable import Event
from planner.controller.view import JobState
from planner.model.job import Range
from planner.model.plan import HeldCircuits, MemoryCircuit


class Fault(BaseModel):
    """Why a request is refused."""

    where: str
    field: str
    problem: str


class PlaceBody(BaseModel):
    """A place as the journal writes it: accelerators as server and slot in turn, the rest by name."""

    kind: str
    row: int
    devices: list[int]
    wiring: str


class StartBody(BaseModel):
    """A waiting job starts, with all of its circuits."""

    d: Literal["start"]
    job: str
    place: PlaceBody
    devices: list[str]
    """in rank order"""
    circuits: list[HeldCircuits]
    memory: list[MemoryCircuit]
    """units of a pool and the circuits to them, rank after rank; none where memory is local"""


class MoveBody(BaseModel):
    """A running job gives back what it holds and goes on elsewhere."""

    d: Literal["move"]
    job: str
    place: PlaceBody
    before: PlaceBody
    downtime_s: float
    because: str
    devices: list[str]
    circuits: list[HeldCircuits]
    memory: list[MemoryCircuit]
    gives_back: list[str]


class StopBody(BaseModel):
    """A job leaves, or queues again (`waits`)."""

    d: Literal["stop"]
    job: str
    before: PlaceBody | None
    why: Why
    waits: bool
    because: str
    gives_back: list[str]


class WaitBody(BaseModel):
    """A job waits, and why."""

    d: Literal["wait"]
    job: str
    tag: Tag
    because: str


class ReserveBody(BaseModel):
    """Servers, by number, that are kept for the first waiting job; nothing is to be done."""

    d: Literal["reserve"]
    job: str | None
    servers: list[int]
    at_s: float | None


AnyDecision = Annotated[StartBody | MoveBody | StopBody | WaitBody | ReserveBody, Field(discriminator="d")]


class Answer(BaseModel):
    """An event is on disk: how many there are, and what was decided, in the order in which to carry it out."""

    seq: int
    decisions: list[AnyDecision]


class EventBody(BaseModel):
    """One event of the journal."""

    seq: int
    event: str
    at_s: float
    decisions: list[AnyDecision]


class News(BaseModel):
    """Events after the one asked for; ask next for those after `seq`."""

    seq: int
    events: list[EventBody]


class WaitsFor(BaseModel):
    """Why a job waits."""

    tag: Tag
    because: str


class JobBody(BaseModel):
    """One job as it is now."""

    name: str
    tenant: str
    priority: int
    state: Literal["waiting", "running"]
    accelerators: int | list[int] | Range
    """as asked for"""
    arrived_s: float
    started_s: float | None
    devices: list[str] | None
    circuits: list[HeldCircuits] | None
    memory: list[MemoryCircuit] | None
    configuration: Configuration | None
    connected: bool | None
    """whether its circuits are on; null where it has none, waits, or nothing here sets circuits"""
    said: str | None
    """what the driver of switches said last, where it could not put the circuits of the job on, or off"""
    waits_for: WaitsFor | None


class JobList(BaseModel):
    """Some jobs of `total`."""

    total: int
    jobs: list[JobBody]


class Circuits(BaseModel):
    """Circuits that must be on, by job; all others must be off."""

    seq: int
    circuits: dict[str, list[HeldCircuits]]
    memory: dict[str, list[MemoryCircuit]]
    """of jobs with units of a pool"""


class Whole(BaseModel):
    """What runs, as an instance of residents and its plan; null where nothing runs."""

    instance: dict[str, Any] | None
    plan: dict[str, Any] | None


class ViolationBody(BaseModel):
    """One broken rule."""

    rule: str
    where: str
    message: str
    excess: float


class Verdict(BaseModel):
    """Every rule that what runs breaks: none is expected."""

    violations: list[ViolationBody]


class Health(BaseModel):
    """Whether requests are taken."""

    status: Literal["ok", "stopping", "lost", "unwritable"]


def job_body(job: JobState, connected: bool | None, said: str | None) -> dict[str, Any]:
    """A `JobBody`."""
    request, place, waits_for = job.request, job.place, job.waits_for
    return {
        "name": request.name,
        "tenant": request.tenant,
        "priority": request.priority,
        "state": job.state,
        "accelerators": request.accelerators,
        "arrived_s": job.arrived_s,
        "started_s": job.started_s,
        "devices": place and place.device_names,
        "circuits": place and place.circuits,
        "memory": place and place.memory,
        "configuration": place and place.configuration,
        "connected": connected,
        "said": said,
        "waits_for": waits_for and {"tag": waits_for.tag, "because": waits_for.because},
    }


def decision_body(decision: Decision) -> dict[str, Any]:
    """A decision as the journal writes it, with accelerators by name and all circuits."""
    body = decision.body()
    if isinstance(decision, Start | Move):
        body |= {"devices": decision.devices, "circuits": decision.circuits, "memory": decision.memory}
    if isinstance(decision, Move | Stop):
        body["gives_back"] = decision.before.device_names if decision.before else ()
    return body


def event_body(event: Event) -> dict[str, Any]:
    """An `EventBody`."""
    decisions = list(map(decision_body, event.decisions))
    return {"seq": event.seq, "event": event.name, "at_s": event.at_s, "decisions": decisions}
