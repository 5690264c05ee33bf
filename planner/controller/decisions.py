"""Decisions of a controller: typed, in the order in which it must be carried out."""

from dataclasses import Field, dataclass, field
from typing import Annotated, Any, ClassVar, Literal, Protocol, get_args

from pydantic import Discriminator, PlainValidator, SkipValidation, TypeAdapter, ValidationInfo

from costmodel.parallelism.configuration import Configuration
from planner.model.plan import HeldCircuits, MemoryCircuit, RackCircuit
from planner.placement.placement import Place

Why = Literal["finished", "cancelled", "failed", "preempted"]
Tag = Literal["room", "scattered", "memory", "light", "quota", "reserved", "health", "time", "refused"]
Seconds = Annotated[float, SkipValidation]


class Places(Protocol):
    """Reads places as a journal wrote them."""

    def place(self, body: dict[str, Any]) -> Place: ...


def _held(value: Any, info: ValidationInfo) -> Place:
    """A place; one as the journal wrote it is read by the `Places` of the context."""
    if isinstance(value, Place):
        return value
    context: Any = info.context
    places: Places = context
    return places.place(value)


Held = Annotated[Place, PlainValidator(_held)]


class _Written:
    """A decision that is written as its fields, in their order."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    NAMED: ClassVar[tuple[str, ...]] = ()
    """properties that clients read beside the fields"""

    def body(self) -> dict[str, Any]:
        """As the journal writes it."""
        values = vars(self)
        return {name: values[name] for name in self.__dataclass_fields__}

    def named_body(self) -> dict[str, Any]:
        """As clients read it: as the journal writes it, with accelerators and circuits by name."""
        return {**self.body(), **{name: getattr(self, name) for name in self.NAMED}}


class _Placed(_Written):
    """A decision that gives a job a place."""

    NAMED: ClassVar[tuple[str, ...]] = ("devices", "circuits", "memory", "upper")
    place: Place

    def body(self) -> dict[str, Any]:
        return {**super().body(), "place": self.place.body()}

    @property
    def devices(self) -> tuple[str, ...]:
        """Accelerators in rank order."""
        return self.place.device_names

    @property
    def circuits(self) -> tuple[HeldCircuits, ...]:
        """To be on as long as the job runs, configuration after configuration."""
        return self.place.circuits

    @property
    def memory(self) -> tuple[MemoryCircuit, ...]:
        """Units of a pool and the circuits to them, rank after rank; none where memory is local."""
        return self.place.memory

    @property
    def upper(self) -> tuple[RackCircuit, ...]:
        """Circuits between its racks, to be on as long as it runs; none where it lies in one, or packets join them."""
        return self.place.upper

    @property
    def configuration(self) -> Configuration:
        """Degrees of parallelism and memory of the job."""
        return self.place.configuration


@dataclass(frozen=True)
class Start(_Placed):
    """A waiting job starts, with all of its circuits.

    It takes its accelerators and all of its circuits, or nothing.
    """

    d: Literal["start"] = field(default="start", kw_only=True)
    job: str
    place: Held


@dataclass(frozen=True)
class Move(_Placed):
    """A running job gives back what it holds and goes on elsewhere.

    It pauses for `downtime_s`. All moves and stops of one answer give back before any of its moves and starts take.
    """

    NAMED = (*_Placed.NAMED, "gives_back")
    d: Literal["move"] = field(default="move", kw_only=True)
    job: str
    place: Held
    before: Held
    """what it gives back"""
    downtime_s: Seconds
    because: str

    def body(self) -> dict[str, Any]:
        return {**super().body(), "before": self.before.body()}

    @property
    def gives_back(self) -> tuple[str, ...]:
        """Accelerators that it held until now."""
        return self.before.device_names


@dataclass(frozen=True)
class Stop(_Written):
    """A job leaves, or queues again (`waits`).

    What it held is free, its circuits are to be released.
    """

    NAMED = ("gives_back",)
    d: Literal["stop"] = field(default="stop", kw_only=True)
    job: str
    before: Held | None
    """None for a job that was waiting"""
    why: Why
    waits: bool
    because: str

    def body(self) -> dict[str, Any]:
        return {**super().body(), "before": None if self.before is None else self.before.body()}

    @property
    def gives_back(self) -> tuple[str, ...]:
        """Accelerators that it held."""
        return () if self.before is None else self.before.device_names


@dataclass(frozen=True)
class Wait(_Written):
    """A job waits, and why.

    The reason is in the words of its user.
    """

    d: Literal["wait"] = field(default="wait", kw_only=True)
    job: str
    tag: Tag
    because: str


@dataclass(frozen=True)
class Reserve(_Written):
    """Servers, by number, that are kept for the first waiting job; nothing is to be done.

    `job` None: none is kept for anybody.
    """

    d: Literal["reserve"] = field(default="reserve", kw_only=True)
    job: str | None
    servers: tuple[int, ...] = ()
    at_s: Seconds | None = None
    """when running jobs, by their limits, have left them; None where some have no limit"""

    def body(self) -> dict[str, Any]:
        return {**super().body(), "servers": list(self.servers)}


Decision = Start | Move | Stop | Wait | Reserve
DECISIONS = get_args(Decision)
_DECISION: TypeAdapter[Any] = TypeAdapter(Annotated[Decision, Discriminator("d")])


def read_decision(body: dict[str, Any], places: Places) -> Decision:
    """A decision as the journal wrote it."""
    decision: Decision = _DECISION.validate_python(body, context=places)
    return decision
