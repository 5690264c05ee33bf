"""What a controller is asked: nothing is decided, nothing changes."""

from dataclasses import replace
from threading import RLock
from typing import Any

from planner.checks import Violation, check
from planner.controller.durable import DurableState, Event
from planner.controller.history import Moment, history
from planner.controller.outlook import Outlook, outlook
from planner.controller.settings import Request, Settings
from planner.controller.state import ClusterState, Counts
from planner.controller.validator import whole
from planner.controller.view import JobState, View, job_state, view
from planner.explain import Explanation, Statement, explain
from planner.model.cluster import Cluster
from planner.model.edit import edited
from planner.model.errors import ConflictError
from planner.model.instance import Instance
from planner.model.job import Job
from planner.model.phrases import few
from planner.model.plan import HeldCircuits, Plan
from planner.placement.placement import Place


class Questions:
    """Those of one controller; calls of threads are taken in turn."""

    _lock: RLock
    _durable: DurableState
    cluster: Cluster
    settings: Settings

    @property
    def greedy_budget_s(self) -> float:
        """Most time for the search of places at one event, for the first job and again for all behind it."""
        return max(self.settings.greedy_budget_s, self._durable.state.free.state.least_search_s)

    @property
    def repair_budget_s(self) -> float:
        """Most time for CP-SAT at one event."""
        return self.settings.repair_s(self.cluster.fabric.num_devices)

    def decided(self, after: int, most: int) -> list[Event]:
        """Events after number `after` with what was decided, at most so many; UnknownError where the journal has
        forgotten some of them."""
        with self._lock:
            return self._durable.decided(after, most)

    def tenant(self, name: str) -> str:
        """The tenant of a job; InputError where it neither waits nor runs."""
        return self._durable.ledger.job(name, "job").request.tenant

    def job(self, name: str) -> JobState:
        """A job that waits or runs, and why it waits; InputError for any other."""
        with self._lock:
            return job_state(self._durable.state, self._durable.ledger.job(name, "job"))

    def is_prepared(self, request: Request, *, is_asked: bool = False) -> bool:
        """True if what a job asks for is expanded, as far as a question needs it; answered at once."""
        return self._durable.kinds.is_listed(request) if is_asked else request in self._durable.kinds

    def ask(self, request: Request, *, at_s: float | None = None) -> Outlook:
        """What would become of a job if it were submitted at this time, as of events; nothing is decided. InputError
        for a job that can never run, ConflictError for the name of one that waits or runs."""
        with self._lock, self._durable.kinds.holding([self._durable.kinds.name(request)]):
            if request.name in self._durable.ledger.jobs:
                raise ConflictError("ask", request.name, "waits or runs already; ask about a job of another name")
            self._durable.require_runnable(request, is_asked=True)
            now_s = self._asked_s("ask", at_s)
            return outlook(self._durable.state, request, now_s, self.greedy_budget_s)

    def _asked_s(self, call: str, at_s: float | None) -> float:
        """The time of a call, given or now, and not before that of the last event."""
        last_s = self._durable.ledger.now_s
        return max(self._durable.clock.asked(call, at_s, last_s), last_s)

    def prove(self, request: Request, time_limit_s: float) -> Explanation:
        """Why a job cannot start beside who runs, or that it can, and what would let it in: solved, not counted. Only
        for the answer of `ask` are other calls kept waiting, which says what is left aside here: quotas, and what is
        kept for the first job. What is free on drained servers counts as failed."""
        with self._lock:
            found, state = self.ask(request), self._durable.state
            running = [(e.request, e.place) for e in self._durable.ledger.jobs.values() if e.place is not None]
            closed = _free_on_drained(state)
            cluster = state.free.damaged([*self._durable.ledger.failed, *closed])
        job = Job(**{name: getattr(request, name) for name in Job.model_fields})
        instance, plan = Instance(schema_version=2, name="controller", cluster=cluster, jobs=(job,)), None
        if running:
            beside, plan = whole(cluster, running)
            instance = edited(beside, jobs=(job,))
        proof = explain(instance, job.name, plan=plan, time_limit_s=time_limit_s)
        if found.tag in ("quota", "reserved"):
            proof = replace(proof, headline=f"{found.because}; that aside, {proof.headline}")
        if closed:
            told = f"accelerators that are free on drained servers count as failed: {few(closed)}"
            proof = replace(proof, statements=(*proof.statements, Statement(told)))
        return proof

    def history(self, most_events: int = 2000) -> list[Moment]:
        """Accelerators held and jobs waiting after each of the last events that the journal still has."""
        with self._lock:
            state = self._durable.state
            records = list(self._durable.journal.records(max(0, self.seq - most_events)))
            held = sum(len(entry.place.devices) for entry in state.running() if entry.place is not None)
            return history(records, held, len(state.ledger.jobs) - len(state.running()))

    def view(self, most_waiting: int = 200) -> View:
        """Running jobs, waiting ones (so many of them) and parts that are down, at one moment."""
        with self._lock:
            return view(self._durable.state, self.seq, most_waiting)

    @property
    def running(self) -> dict[str, Place]:
        """Places of running jobs, in the order of arrival."""
        with self._lock:
            return {entry.name: entry.place for entry in self._durable.ledger.jobs.values() if entry.place is not None}

    @property
    def waiting(self) -> tuple[str, ...]:
        """Waiting jobs in the order in which they are served now."""
        with self._lock:
            queue = self._durable.state.queue.ordered(self._durable.ledger.now_s, passed=set())
            return tuple(entry.name for entry in queue if not entry.grows)

    @property
    def has_waiting(self) -> bool:
        """True if a job waits, or one that runs waits for more accelerators."""
        with self._lock:
            return len(self._durable.state.queue) > 0

    @property
    def down(self) -> tuple[str, ...]:
        """Failed parts and drained servers."""
        with self._lock:
            return (*self._durable.ledger.failed, *self._durable.ledger.drained)

    def kept_down(self, keeper: str) -> tuple[frozenset[str], frozenset[str]]:
        """Failed parts, and drained servers, that this keeper alone puts back."""
        with self._lock:
            kept = (self._durable.ledger.failed, self._durable.ledger.drained)
            failed, drained = (frozenset(name for name, by in down.items() if by == keeper) for down in kept)
            return failed, drained

    @property
    def num_free(self) -> int:
        """Working accelerators that nobody holds."""
        with self._lock:
            return self._durable.state.free.state.num_free

    @property
    def seq(self) -> int:
        """Events in the journal."""
        return self._durable.journal.seq

    @property
    def counts(self) -> Counts:
        """Outcomes of searches, counted since this process began."""
        return self._durable.state.counts

    def state(self) -> dict[str, Any]:
        """All that the journal says, as JSON: two controllers with the same journal agree on it."""
        with self._lock:
            return self._durable.ledger.body()

    def circuits(self) -> dict[str, tuple[HeldCircuits, ...]]:
        """Circuits inside racks that must be on, by job; others must be off."""
        return {name: place.circuits for name, place in self.running.items()}

    def plan(self) -> tuple[Instance, Plan] | None:
        """Running jobs as residents of an instance and its plan, for reports and checks; None if nothing runs."""
        with self._lock:
            running = [(e.request, e.place) for e in self._durable.ledger.jobs.values() if e.place is not None]
            cluster = self._durable.state.free.cluster
        return whole(cluster, running) if running else None

    def check(self) -> list[Violation]:
        """Every rule that what runs breaks, by all of `planner.checks`: slow, none is expected."""
        found = self.plan()
        return [] if found is None else check(*found)


def _free_on_drained(state: ClusterState) -> list[str]:
    """Names of accelerators that nobody holds on servers that take no jobs."""
    fabric, slots = state.free.cluster.fabric, state.free.state.slots
    own = ((server, slot) for server in sorted(state.drained) for slot in sorted(slots.free(server, single=True)))
    return [fabric.device_name(server, slot) for server, slot in own]
