"""The planner inside a scheduler: events in, decisions out, every one on disk before anybody hears of it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Literal, Self

from planner.controller import health
from planner.controller.consolidation import MoveProposal, carry_out, propose
from planner.controller.durable import Decisions, DurableState
from planner.controller.elastic_jobs import ElasticJobs
from planner.controller.free_state import failures_of
from planner.controller.leadership import Leadership
from planner.controller.ledger import request_body
from planner.controller.scheduling_cycle import SchedulingCycle
from planner.controller.settings import Request, Settings
from planner.model.cluster import Cluster
from planner.model.errors import ConflictError, InputError, UnknownError


class Controller(ElasticJobs):
    """One cluster: who runs where over which circuits, who waits, what has failed.

    Each event takes an idempotency `key` (the same key and content again: the same answer, nothing is applied twice;
    other content: InputError) and the time `at_s`, in seconds on any clock that does not run backwards, by default
    today's. An event that cannot be is an InputError, and nothing has changed. Calls of threads are taken in turn.
    """

    def __init__(
        self,
        cluster: Cluster | None = None,
        journal: str | Path = ":memory:",
        settings: Settings | None = None,
        *,
        is_standby: bool = False,
        is_leased: bool = False,
    ) -> None:
        """Begin with an empty cluster, or go on where the journal ends: the cluster may then be left out, and settings
        that are given replace those of the journal. One that stands by reads what another writes, answers questions,
        refuses events, and may `lead` later. `is_leased`: it holds a lease as soon as it is there, as a service does,
        and may be ended where it hangs before."""
        self._lock, self._given = RLock(), settings
        self._durable = DurableState(cluster, journal, settings, is_standby=is_standby, is_leased=is_leased)
        self.cluster, self.settings = self._durable.cluster, self._durable.settings
        self._proposal: MoveProposal | None = None

    # Who leads

    @property
    def leadership(self) -> Leadership:
        """Term and lease of this controller, or of the one for which it stands by."""
        return self._durable.leadership

    def lead(self, url: str = "") -> None:
        """Stand by no more: write the journal from now on, in a new term, under a lease that is to be renewed and says
        where this listens. InputError where another writes it."""
        with self._lock:
            self._durable.lead(self._given, url)
            self.settings = self._durable.settings

    def refresh(self) -> None:
        """Read what the controller that leads has written since."""
        with self._lock:
            self._durable.refresh()

    def require_leading(self) -> int:
        """The term in which this controller leads, asked before anything is done in its name; DeposedError where
        another may lead by now."""
        return self._durable.require_leading()

    def prepare(self, request: Request, *, is_asked: bool = False) -> None:
        """Expand what a job asks for before it is submitted, or list it before a question: other calls go on meanwhile.
        InputError for a job that can never run, FullError for one that finds no memory now."""
        self._durable.require_runnable(request, is_asked=is_asked)
        if not is_asked:
            self.tidy()

    def tidy(self) -> None:
        """Forget what jobs asked for lately where that takes too much memory, what questions were about included."""
        self._durable.kinds.count()
        with self._lock:
            self._durable.tidy()

    # Events

    def submit(self, request: Request, *, key: str | None = None, at_s: float | None = None) -> Decisions:
        """A job wants to run. Again with the same content while it waits or runs: what it does, and nothing changes."""
        return self.submit_all([request], key=key, at_s=at_s)

    def submit_all(
        self, requests: Sequence[Request], *, key: str | None = None, at_s: float | None = None
    ) -> Decisions:
        """Jobs that arrive together are looked at together, others may move for any of them."""
        with self._lock:
            kinds = [self._durable.kinds.name(request) for request in requests]
            body: dict[str, Any] = {"e": "submit", "jobs": list(map(request_body, requests)), "kinds": kinds}
            if (known := self._durable.known(key, body)) is not None:
                return known
            if (same := self._durable.ledger.again(requests)) is not None:
                return self._durable.noted(body, key, at_s, same)
            names = [request.name for request in requests]

            def act() -> None:
                for name in names:
                    self._durable.state.queue.push(self._durable.ledger.jobs[name])
                self._serve(names, is_batch=len(names) > 1)

            with self._durable.kinds.holding(kinds):
                for request in requests:
                    self._durable.require_runnable(request)
                return self._durable.event(body, key, at_s, act, requests)

    def cancel(self, job: str, *, key: str | None = None, at_s: float | None = None) -> Decisions:
        """A job is not wanted any more, whether it waits or runs."""
        return self._leaves(job, "cancel", key, at_s)

    def finish(self, job: str, *, key: str | None = None, at_s: float | None = None) -> Decisions:
        """A running job has ended."""
        return self._leaves(job, "finish", key, at_s)

    def fail(self, part: str, *, keeper: str = "", key: str | None = None, at_s: float | None = None) -> Decisions:
        """A part has failed (names: `scenarios.damage`), or all of a server, as s3. Jobs on it move, or wait again;
        what is down stays so. `keeper`: who will repair it; what an operator says is down, nobody else repairs."""
        with self._lock:
            body = {"e": "fail", "part": part} | _kept_by(keeper)
            if (known := self._durable.known(key, body)) is not None:
                return known
            failures_of(self.cluster, part)
            if part in (failed := self._durable.ledger.failed) and (keeper or not failed[part]):
                return self._durable.noted(body, key, at_s, ())
            return self._durable.event(body, key, at_s, lambda: self._serve(health.flee(self._durable.state)))

    def repair(self, part: str, *, keeper: str = "", key: str | None = None, at_s: float | None = None) -> Decisions:
        """A part or server that failed works again, a drained server takes jobs again; a `keeper` repairs what it said
        has failed, and nothing else."""
        with self._lock:
            body = {"e": "repair", "part": part} | _kept_by(keeper)
            if (known := self._durable.known(key, body)) is not None:
                return known
            failed, drained = self._durable.ledger.failed, self._durable.ledger.drained
            if keeper and failed.get(part) != keeper:
                raise ConflictError("repair", part, f"was not failed by {keeper}")
            if part not in failed and part not in drained:
                down = ", ".join((*failed, *drained)) or "nothing"
                raise ConflictError("repair", part, f"has neither failed nor been drained here; down is: {down}")
            return self._durable.event(body, key, at_s, lambda: self._serve(health.flee(self._durable.state)))

    def drain(self, server: str, *, keeper: str = "", key: str | None = None, at_s: float | None = None) -> Decisions:
        """A server takes no more jobs; those on it that may move do where there is room, others end there. `keeper`: as
        of `fail`."""
        with self._lock:
            body = {"e": "drain", "server": server} | _kept_by(keeper)
            if (known := self._durable.known(key, body)) is not None:
                return known
            try:
                self.cluster.fabric.parse_server(server)
            except ValueError as error:
                raise UnknownError("drain", server, str(error)) from None
            if server in (drained := self._durable.ledger.drained) and (keeper or not drained[server]):
                return self._durable.noted(body, key, at_s, ())
            return self._durable.event(body, key, at_s, lambda: self._serve(health.clear(self._durable.state, server)))

    def undrain(self, server: str, *, keeper: str = "", key: str | None = None, at_s: float | None = None) -> Decisions:
        """A drained server takes jobs again; what has failed there stays so. `keeper`: as of `repair`."""
        with self._lock:
            body = {"e": "undrain", "server": server} | _kept_by(keeper)
            if (known := self._durable.known(key, body)) is not None:
                return known
            drained = self._durable.ledger.drained
            if keeper and drained.get(server) != keeper:
                raise ConflictError("undrain", server, f"was not drained by {keeper}")
            if server not in drained:
                named = ", ".join(drained) or "none"
                raise ConflictError("undrain", server, f"has not been drained here; drained are: {named}")
            return self._durable.event(body, key, at_s, lambda: self._serve(health.flee(self._durable.state)))

    def replan(self, budget_s: float, *, key: str | None = None, at_s: float | None = None) -> Decisions:
        """Look again at all that waits, for so many seconds: jobs move where that pays. Nothing is written if nothing
        changes."""
        with self._lock:
            if not budget_s >= 0:
                raise InputError("replan", "budget_s", f"{budget_s} is no time; give seconds")
            body = {"e": "replan"}
            if (known := self._durable.known(key, body)) is not None:
                return known
            return self._durable.event(body, key, at_s, lambda: self._look_again(budget_s))

    def propose(self, budget_s: float) -> MoveProposal:
        """Moves of running jobs after which less of what is free is fragmented, priced; nothing is decided.
        ConflictError on fabrics where nobody moves for others."""
        with self._lock:
            self._durable.require_open()
            self._proposal = propose(self._durable.state, self.seq, budget_s)
            return self._proposal

    def consolidate(self, proposal: str, *, key: str | None = None, at_s: float | None = None) -> Decisions:
        """Carry out the last proposal, by its name; ConflictError where it is another one, or anything has happened
        since."""
        with self._lock:
            body = {"e": "consolidate", "proposal": proposal}
            if (known := self._durable.known(key, body)) is not None:
                return known
            last = self._proposal
            if last is None or (last.name, last.seq) != (proposal, self.seq):
                raise ConflictError("defrag", proposal, "is no proposal for the state of now; ask for a new one")

            def act() -> None:
                carry_out(self._durable.state, last)
                self._serve([])

            return self._durable.event(body, key, at_s, act)

    def set_clock(self) -> Decisions:
        """The machine's clock is right and the time of the journal is not: all times move with it."""
        with self._lock:
            return self._durable.set_clock()

    def probe(self) -> None:
        """UnwrittenError where the journal cannot be written now."""
        with self._lock:
            self._durable.probe()

    @contextmanager
    def group(self) -> Iterator[None]:
        """Events inside become durable together when the block ends, with one write to disk: until then none of their
        decisions may be acted upon. If the block raises, none of them has happened."""
        with self._lock, self._durable.group():
            yield

    def _leaves(self, job: str, call: Literal["cancel", "finish"], key: str | None, at_s: float | None) -> Decisions:
        with self._lock:
            durable, body = self._durable, {"e": call, "job": job}
            if (known := durable.known(key, body)) is not None:
                return known
            entry = durable.ledger.job(job, call)
            if call == "finish" and entry.place is None:
                raise ConflictError(call, job, "waits and has not started; cancel it instead")

            def act() -> None:
                because = "it has ended" if call == "finish" else "its user does not want it any more"
                durable.state.stop(entry, "finished" if call == "finish" else "cancelled", because)
                self._serve([])

            return durable.event(body, key, at_s, act)

    def _serve(self, names: Sequence[str], *, is_batch: bool = False) -> None:
        """Serve the queue after an event, and tell these jobs why they wait, if they do."""
        state = self._durable.state
        batch = frozenset(names if is_batch else ())
        each = SchedulingCycle(state, self.greedy_budget_s, self.repair_budget_s, is_batch, batch)
        each.run()
        each.tell(names)

    def _look_again(self, budget_s: float) -> None:
        self._durable.state.negative_cache.clear()
        each = SchedulingCycle(self._durable.state, budget_s / 2, budget_s / 2, is_deep=True)
        each.run()
        each.tell(list(each.ran_out))

    def close(self) -> None:
        """Write a snapshot and let go of the journal."""
        with self._lock:
            self._durable.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _kept_by(keeper: str) -> dict[str, str]:
    """Who keeps a part down, as an event has it: nothing for an operator."""
    return {"keeper": keeper} if keeper else {}
