"""Bodies of answers: decisions, jobs and errors, in types that OpenAPI shows."""

from dataclasses import fields
from inspect import cleandoc
from typing import Annotated, Any, Literal, Union, get_type_hints

from pydantic import BaseModel, Field, create_model

from costmodel.parallelism.configuration import Configuration
from planner.controller.consolidation import MoveProposal
from planner.controller.decisions import DECISIONS, Tag
from planner.controller.durable import Event
from planner.controller.outlook import Outlook
from planner.controller.view import JobState
from planner.explain import Explanation
from planner.model.job import Range
from planner.model.plan import HeldCircuits, MemoryCircuit, RackCircuit
from planner.placement.placement import Place


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


WRITTEN: dict[Any, Any] = {Place: PlaceBody, Place | None: PlaceBody | None}
"""types of fields that the journal writes otherwise than they are"""


def _schema_of(decision: Any) -> type[BaseModel]:
    """Fields of a decision as the journal writes them, and what clients read beside them; described by its first
    sentences."""
    hints = get_type_hints(decision)
    types = {each.name: hints[each.name] for each in fields(decision)}
    types |= {name: get_type_hints(getattr(decision, name).fget)["return"] for name in decision.NAMED}
    required: dict[str, Any] = {name: (WRITTEN.get(written, written), ...) for name, written in types.items()}
    summary = cleandoc(decision.__doc__).partition("\n\n")[0]
    return create_model(f"{decision.__name__}Body", __doc__=summary, **required)


AnyDecision: Any = Annotated[Union[*map(_schema_of, DECISIONS)], Field(discriminator="d")]


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


class History(BaseModel):
    """A column for each figure, an entry after each of the last events; of many, some are left out."""

    at_s: list[float]
    held: list[int]
    waiting: list[int]


class SliceList(BaseModel):
    """Slice resources (`accelerator.gke.io/v1beta1`) for what runs, after so many events."""

    seq: int
    slices: list[dict[str, Any]]


class WaitsFor(BaseModel):
    """Why a job waits."""

    tag: Tag
    because: str


class GrowthBody(BaseModel):
    """A running job as it waits to be, with more accelerators."""

    accelerators: int | list[int] | Range
    asked_s: float
    waits_for: WaitsFor | None


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
    upper: list[RackCircuit] | None
    """circuits between its racks, where these are several"""
    configuration: Configuration | None
    connected: bool | None
    """whether its circuits are on; null where it has none, waits, or nothing here sets circuits"""
    said: str | None
    """what the driver of switches said last, where it could not put the circuits of the job on, or off"""
    waits_for: WaitsFor | None
    growth: GrowthBody | None
    """what it waits to be, where it runs and waits for more"""


class StatementBody(BaseModel):
    """One sentence of a proof."""

    text: str
    is_verified: bool


class ProofBody(BaseModel):
    """Why a job cannot start beside who runs, or that it can, and what would let it in; solved."""

    tag: str
    headline: str
    statements: list[StatementBody]


class OutlookBody(BaseModel):
    """What would become of a job if it were submitted now; nothing was decided."""

    starts: bool
    """at once, where no other job has to move or stop for it"""
    devices: list[str] | None
    """where it would stand"""
    configuration: Configuration | None
    ahead: int
    """jobs that wait and are served before it"""
    earliest_s: float | None
    """seconds until it could start if all who run keep their limits and nobody is before it; null where some of them
    have no limit, or where the search for a place ran out of its time"""
    waits_for: WaitsFor | None
    """what stands in the way"""
    most_together: int
    """accelerators that are free for one job"""
    proof: ProofBody | None
    """where it was asked for"""


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
    upper: dict[str, list[RackCircuit]]
    """of jobs over several racks, between these"""


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

    status: Literal["ok", "stopping", "lost", "unwritable", "standby"]


def job_body(job: JobState, connected: bool | None, said: str | None) -> dict[str, Any]:
    """A `JobBody`."""
    request, place = job.request, job.place
    return {
        **{name: getattr(request, name) for name in ("name", "tenant", "priority")},
        "state": job.state,
        "accelerators": request.accelerators,
        "arrived_s": job.arrived_s,
        "started_s": job.started_s,
        "devices": place and place.device_names,
        **{name: place and getattr(place, name) for name in ("circuits", "memory", "upper", "configuration")},
        "connected": connected,
        "said": said,
        "waits_for": _waits_for(job),
        "growth": job.growth and _growth(job.growth),
    }


def _growth(job: JobState) -> dict[str, Any]:
    return {"accelerators": job.request.accelerators, "asked_s": job.arrived_s, "waits_for": _waits_for(job)}


def _waits_for(job: JobState) -> dict[str, Any] | None:
    return None if job.waits_for is None else {"tag": job.waits_for.tag, "because": job.waits_for.because}


class ProposedMoveBody(BaseModel):
    """One job that would go on elsewhere."""

    job: str
    before: list[str]
    after: list[str]


class ProposalBody(BaseModel):
    """Moves of running jobs, and their price; none where nothing pays."""

    proposal: str
    """its name, by which `POST /v1/defrag` accepts it"""
    moves: list[ProposedMoveBody]
    free: int
    fragmented_before: float
    """free accelerators that jobs of the sizes at hand, and of a whole server, find on several servers alone"""
    fragmented_after: float
    cost_s: float
    """accelerator-seconds of downtime"""
    gain_s: float
    """accelerator-seconds: those no longer fragmented, for as long as a job is expected to wait"""


def proposal_body(found: MoveProposal) -> dict[str, Any]:
    """A `ProposalBody`."""
    moves = [
        {"job": move.job, "before": move.before.device_names, "after": move.place.device_names} for move in found.moves
    ]
    names = ("free", "fragmented_before", "fragmented_after", "cost_s", "gain_s")
    figures = {name: getattr(found, name) for name in names}
    return {"proposal": found.name, "moves": moves, **figures}


def outlook_body(found: Outlook, proof: Explanation | None) -> dict[str, Any]:
    """An `OutlookBody`."""
    place, said = found.place, () if proof is None else proof.statements
    return {
        "starts": found.starts,
        "devices": place and place.device_names,
        "configuration": place and place.configuration,
        "ahead": found.ahead,
        "earliest_s": found.earliest_s,
        "waits_for": None if found.tag is None else {"tag": found.tag, "because": found.because},
        "most_together": found.most_together,
        "proof": proof
        and {
            "tag": proof.tag,
            "headline": proof.headline,
            "statements": [{"text": each.text, "is_verified": each.is_verified} for each in said],
        },
    }


def event_body(event: Event) -> dict[str, Any]:
    """An `EventBody`."""
    decisions = [decision.named_body() for decision in event.decisions]
    return {"seq": event.seq, "event": event.name, "at_s": event.at_s, "decisions": decisions}
