"""Decisions of a controller: typed, in the order in which it must be carried out."""

from dataclasses import dataclass
from typing import Any, Literal

from costmodel.parallelism.configuration import Configuration
from planner.model.plan import HeldCircuits, MemoryCircuit
from planner.placement.placement import Place

Why = Literal["finished", "cancelled", "failed", "preempted"]
Tag = Literal["room", "scattered", "memory", "light", "quota", "reserved", "health", "time", "refused"]


@dataclass(frozen=True)
class Start:
    """A waiting job starts: its accelerators and all of its circuits, or nothing."""

    job: str
    place: Place

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
    def configuration(self) -> Configuration:
        """Degrees of parallelism and memory of the job."""
        return self.place.configuration

    def body(self) -> dict[str, Any]:
        return {"d": "start", "job": self.job, "place": self.place.body()}


@dataclass(frozen=True)
class Move:
    """A running job pauses, gives back what it holds, and goes on elsewhere.

    All moves and stops of one answer give back before any of its moves and starts take.
    """

    job: str
    place: Place
    before: Place
    """what it gives back"""
    downtime_s: float
    because: str

    @property
    def devices(self) -> tuple[str, ...]:
        return self.place.device_names

    @property
    def circuits(self) -> tuple[HeldCircuits, ...]:
        return self.place.circuits

    @property
    def memory(self) -> tuple[MemoryCircuit, ...]:
        return self.place.memory

    @property
    def configuration(self) -> Configuration:
        return self.place.configuration

    def body(self) -> dict[str, Any]:
        return {
            "d": "move", "job": self.job, "place": self.place.body(), "before": self.before.body(),
            "downtime_s": self.downtime_s, "because": self.because,
        }  # fmt: skip


@dataclass(frozen=True)
class Stop:
    """A job leaves: what it held is free, its circuits are to be released; `waits`: it queues again."""

    job: str
    before: Place | None
    """None for a job that was waiting"""
    why: Why
    waits: bool
    because: str

    def body(self) -> dict[str, Any]:
        before = None if self.before is None else self.before.body()
        return {
            "d": "stop", "job": self.job, "before": before, "why": self.why, "waits": self.waits,
            "because": self.because,
        }  # fmt: skip


@dataclass(frozen=True)
class Wait:
    """A job waits, and why, in the words of its user."""

    job: str
    tag: Tag
    because: str

    def body(self) -> dict[str, Any]:
        return {"d": "wait", "job": self.job, "tag": self.tag, "because": self.because}


@dataclass(frozen=True)
class Reserve:
    """Servers that are kept for the first waiting job; `job` None: for nobody."""

    job: str | None
    servers: tuple[int, ...] = ()
    at_s: float | None = None
    """when running jobs, by their limits, have left them; None where some have no limit"""

    def body(self) -> dict[str, Any]:
        return {"d": "reserve", "job": self.job, "servers": list(self.servers), "at_s": self.at_s}


Decision = Start | Move | Stop | Wait | Reserve
