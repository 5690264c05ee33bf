"""Jobs, health and reservations, folded from the journal's events and decisions alone (event sourcing)."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from math import inf
from typing import Any, Protocol

from costmodel.parallelism.configuration import Configuration
from planner.controller.decisions import Decision, Reserve, Start, Stop, Wait, read_decision
from planner.controller.job_classes import JobClasses
from planner.controller.quotas import TenantUsage, Use
from planner.controller.settings import Request, Settings
from planner.fabrics.job_class import Option
from planner.fabrics.rack_links import circuit_between
from planner.fabrics.wiring import NO_WIRING, Wiring
from planner.model.errors import ConflictError, InputError, UnknownError
from planner.model.job import JOB_CLASS_FIELDS
from planner.placement.placement import Place


class Names(Protocol):
    """Wirings and configurations that a journal writes once and names from then on."""

    def wiring(self, name: str) -> Wiring: ...

    def configuration(self, kind: str, row: int) -> Configuration: ...


@dataclass
class Entry:
    """One job that waits or runs."""

    request: Request
    kind: str
    number: int
    """counted in the order of arrival"""
    arrived_s: float
    place: Place | None = None
    started_s: float = 0.0
    pause_s: float = 0.0
    """downtime of its moves since it started"""
    preempted: int = 0
    """times that it was stopped for others"""
    wait: Wait | None = None
    grows: bool = False
    """a running job, as it waits to be with more accelerators"""
    stopped_s: float | None = None
    """when it was stopped; None where it has not run, or runs"""

    @property
    def waits_since_s(self) -> float:
        """When it came, or was stopped: patience counts from there."""
        return self.arrived_s if self.stopped_s is None else self.stopped_s

    @property
    def name(self) -> str:
        return self.request.name

    @property
    def waits_in_vain(self) -> bool:
        """True if it would get no more accelerators whatever is free: nothing is kept for it."""
        return self.grows and self.wait is not None and self.wait.tag in ("refused", "quota")

    @property
    def end_s(self) -> float:
        """Time at which it ends by its limit; inf without one."""
        limit_s = self.request.duration_s
        return inf if limit_s is None else self.started_s + self.pause_s + limit_s


@dataclass
class Ledger:
    """State of one controller; nothing else is remembered over a restart."""

    settings: Settings
    kinds: JobClasses
    names: Names
    wirings: dict[str, Wiring] = field(default_factory=dict)
    """those that were asked for, by name"""
    jobs: dict[str, Entry] = field(default_factory=dict)
    """waiting and running, in the order of arrival"""
    growths: dict[str, Entry] = field(default_factory=dict)
    """running jobs that wait for more accelerators, as they are to be then; in the order in which they asked"""
    failed: dict[str, str] = field(default_factory=dict)
    """keepers of parts that are down, in the order in which they failed; nothing: an operator"""
    drained: dict[str, str] = field(default_factory=dict)
    """the same of servers that take no job"""
    tenants: TenantUsage = field(init=False)
    reserved: Reserve = field(default_factory=lambda: Reserve(None))
    now_s: float = 0.0
    num_arrived: int = 0
    _rows: dict[tuple[str, int], Option] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tenants = TenantUsage(self.settings)

    def job(self, name: str, call: str) -> Entry:
        """A job that waits or runs; InputError where there is none."""
        if name not in self.jobs:
            raise UnknownError(call, "job", f"no job '{name}' waits or runs; give one that does")
        return self.jobs[name]

    def again(self, requests: Sequence[Request]) -> tuple[Decision, ...] | None:
        """Present decisions on jobs that were submitted before with the same content; None where all are new."""
        names = [request.name for request in requests]
        if len(set(names)) < len(names) or not names:
            raise InputError("submit", ", ".join(names), "give at least one job, each with a name of its own")
        known = [request for request in requests if request.name in self.jobs]
        for request in known:
            if self.jobs[request.name].request != request:
                problem = "waits or runs already with other content; cancel it first, or take another name"
                if self.jobs[request.name].request.tenant != request.tenant:
                    problem = "is the name of another tenant's job; take another"
                raise ConflictError("submit", request.name, problem)
        if not known:
            return None
        if len(known) < len(requests):
            raise ConflictError("submit", known[0].name, "waits or runs already; leave it out")
        entries = [self.jobs[name] for name in names]
        now = [e.wait if e.place is None else Start(e.name, e.place) for e in entries]
        return tuple(decision for decision in now if decision is not None)

    def event(self, body: dict[str, Any], requests: Sequence[Request] | None = None) -> None:
        """Apply what happened, as the journal writes it; `requests` are its jobs where they are read already."""
        name = body["e"]
        if name == "clock":
            self._shift(body["at_s"] - self.now_s)
        self.now_s = max(self.now_s, body["at_s"])
        if body.get("noted"):
            return
        if name == "submit":
            pairs = zip(body["jobs"], body["kinds"], strict=True)
            requests = requests or [self._request(each, kind) for each, kind in pairs]
            for request, kind in zip(requests, body["kinds"], strict=True):
                self.jobs[request.name] = Entry(request, kind, self.num_arrived, self.now_s)
                self.num_arrived += 1
        elif name in ("shrink", "grow"):
            self._resize(body, requests)
        elif name == "fail":
            self.failed[body["part"]] = body.get("keeper", "")
        elif name == "drain":
            self.drained[body["server"]] = body.get("keeper", "")
        elif name == "undrain":
            self.drained.pop(body["server"], None)
        elif name == "repair":
            self.failed.pop(body["part"], None)
            if "keeper" not in body:
                self.drained.pop(body["part"], None)

    def _resize(self, body: dict[str, Any], requests: Sequence[Request] | None) -> None:
        """A running job asks for other accelerators, and no more for those that it waited for."""
        [kind] = body["kinds"]
        [request] = requests or [self._request(body["job"], kind)]
        self.growths.pop(request.name, None)
        if body.get("queued"):
            self.growths[request.name] = Entry(request, kind, self.num_arrived, self.now_s, grows=True)
            self.num_arrived += 1
        else:
            self.jobs[request.name].request, self.jobs[request.name].kind = request, kind

    def _shift(self, by_s: float) -> None:
        """Times were read from a clock that was wrong by this."""
        self.now_s += by_s
        for entry in (*self.jobs.values(), *self.growths.values()):
            entry.arrived_s += by_s
            entry.started_s += by_s
            entry.stopped_s = None if entry.stopped_s is None else entry.stopped_s + by_s
        for use in self.tenants.uses.values():
            use.at_s += by_s
        if self.reserved.at_s is not None:
            self.reserved = replace(self.reserved, at_s=self.reserved.at_s + by_s)

    def _request(self, body: dict[str, Any], kind: str) -> Request:
        return Request.model_validate({**self.kinds.asked(kind), **body})

    def apply(self, decision: Decision) -> None:
        """Apply one decision."""
        if isinstance(decision, Reserve):
            self.reserved = decision
            return
        entry = self.jobs[decision.job]
        if isinstance(decision, Wait):
            self.growths.get(decision.job, entry).wait = decision
            return
        tenant, place = entry.request.tenant, entry.place
        if place is not None:
            self.tenants.change(tenant, place, -1, self.now_s)
        if isinstance(decision, Stop):
            entry.place, entry.stopped_s = None, self.now_s
            self.growths.pop(decision.job, None)
            entry.preempted += decision.why == "preempted"
            if not decision.waits:
                del self.jobs[decision.job]
            return
        self.tenants.change(tenant, decision.place, 1, self.now_s)
        self._grown(entry, decision.place)
        entry.place, entry.wait = decision.place, None
        if isinstance(decision, Start):
            entry.started_s, entry.pause_s, entry.stopped_s = self.now_s, 0.0, None
        else:
            entry.pause_s += decision.downtime_s

    def _grown(self, entry: Entry, place: Place) -> None:
        """A job goes on as it waited to be, if it did: no other row is of that kind."""
        growth = self.growths.get(entry.name)
        if growth is not None and growth.kind == place.kind:
            entry.request, entry.kind = growth.request, growth.kind
            del self.growths[entry.name]

    @property
    def kinds_in_use(self) -> set[str]:
        """Kinds of jobs that wait or run, by name; several threads ask."""
        return {entry.kind for entry in (*list(self.jobs.values()), *list(self.growths.values()))}

    def decision(self, body: dict[str, Any]) -> Decision:
        """A decision as the journal wrote it."""
        return read_decision(body, self)

    def place(self, body: dict[str, Any]) -> Place:
        """A place as the journal wrote it."""
        flat, kind, wiring = body["devices"], body["kind"], body["wiring"]
        if (kind, body["row"]) not in self._rows:
            configuration = self.names.configuration(kind, body["row"])
            self._rows[kind, body["row"]] = self.kinds.row(kind, body["row"], configuration)
        if wiring not in self.wirings:
            self.wirings[wiring] = self.names.wiring(wiring)
        devices = tuple(zip(flat[::2], flat[1::2], strict=True))
        upper = tuple(circuit_between(*circuit) for circuit in body.get("upper", ()))
        return Place(kind, self._rows[kind, body["row"]], devices, self.wirings[wiring], upper)

    def forget(self) -> None:
        """Let go of rows and wirings that are read again when they are asked for, but for those of today."""
        self._rows.clear()
        used = (entry.place.wiring for entry in self.jobs.values() if entry.place is not None)
        self.wirings = {wiring.name: wiring for wiring in (NO_WIRING, *used)}

    def body(self) -> dict[str, Any]:
        """All of it as JSON, for snapshots and comparisons."""
        kept = {"failed": _kept(self.failed), "drained": _kept(self.drained)}
        growths = [_entry(growth) for growth in self.growths.values()]
        return (
            ({"keepers": kept} if any(kept.values()) else {})
            | ({"growths": growths} if growths else {})
            | {
                "now_s": self.now_s,
                "num_arrived": self.num_arrived,
                "jobs": [_entry(entry) for entry in self.jobs.values()],
                "failed": list(self.failed),
                "drained": list(self.drained),
                "reserved": self.reserved.body(),
                "uses": {tenant: asdict(use) for tenant, use in sorted(self.tenants.uses.items())},
            }
        )

    def restore(self, body: dict[str, Any]) -> None:
        """Read the state that `body` wrote."""
        self.now_s, self.num_arrived = body["now_s"], body["num_arrived"]
        keepers = body.get("keepers", {"failed": {}, "drained": {}})
        self.failed = dict.fromkeys(body["failed"], "") | keepers["failed"]
        self.drained = dict.fromkeys(body["drained"], "") | keepers["drained"]
        for each in body["jobs"]:
            self.jobs[each["request"]["name"]] = self._entry(each)
        for each in body.get("growths", ()):
            self.growths[each["request"]["name"]] = replace(self._entry(each), grows=True)
        reserved: Any = self.decision(body["reserved"])
        self.reserved = reserved
        self.tenants.uses = {tenant: Use(**use) for tenant, use in body["uses"].items()}

    def _entry(self, body: dict[str, Any]) -> Entry:
        """One job of a snapshot."""
        wait: Any = body["wait"] and self.decision(body["wait"])
        place = body["place"] and self.place(body["place"])
        known = {name: body[name] for name in _PLAIN} | {"stopped_s": body.get("stopped_s")}
        return Entry(self._request(body["request"], body["kind"]), place=place, wait=wait, **known)


_PLAIN = ("kind", "number", "arrived_s", "started_s", "pause_s", "preempted")


def request_body(request: Request) -> dict[str, Any]:
    """A request as the journal writes it, beside the name of its kind."""
    return request.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude=JOB_CLASS_FIELDS)


def _kept(down: dict[str, str]) -> dict[str, str]:
    """Those that no operator keeps down."""
    return {name: keeper for name, keeper in down.items() if keeper}


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "request": request_body(entry.request),
        "place": None if entry.place is None else entry.place.body(),
        "wait": None if entry.wait is None else entry.wait.body(),
        **{name: getattr(entry, name) for name in _PLAIN},
        **({} if entry.stopped_s is None else {"stopped_s": entry.stopped_s}),
    }
