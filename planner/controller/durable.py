"""Event sourcing of one controller: an event is in the journal with its decisions, or has not happened."""

import json
import logging
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from planner.controller.begun_with import agreed, require_sound
from planner.controller.clock import Clock
from planner.controller.decisions import Decision
from planner.controller.job_classes import JobClasses
from planner.controller.journal import Journal
from planner.controller.leadership import Leadership
from planner.controller.ledger import Ledger
from planner.controller.quotas import MOST
from planner.controller.settings import Request, Settings
from planner.controller.state import ClusterState, Counts
from planner.fabrics.wiring import NO_WIRING
from planner.model.cluster import Cluster
from planner.model.errors import ConflictError, DeposedError, InputError, UnknownError, UnwrittenError

log = logging.getLogger("planner")
Decisions = tuple[Decision, ...]
CLOSED = "the controller is closed, or lost its journal: open it again"
SPOILT = "an event of this group ended in an error, so none of them has happened"
NOT_ASKED = {"at_s", "noted", "queued"}
"""fields of an event that are no part of what was asked"""


@dataclass(frozen=True)
class Event:
    """One event with its decisions."""

    seq: int
    name: str
    """submit, cancel, finish, shrink, grow, fail, repair, drain, undrain or replan"""
    at_s: float
    decisions: Decisions


class DurableState:
    """State of a controller and its write-ahead journal: event sourcing."""

    def __init__(
        self, cluster: Cluster | None, path: str | Path, settings: Settings | None, *, is_standby: bool = False,
        is_leased: bool = False,
    ) -> None:  # fmt: skip
        self.journal = Journal(path, is_reader=is_standby, is_leased=is_leased)
        self.leadership = Leadership(self.journal)
        self.ledger: Ledger
        self.state: ClusterState
        try:
            self.cluster, self.settings = agreed(self.journal, cluster, settings)
            self.kinds = JobClasses(
                self.cluster, self.settings.kinds_memory_bytes,
                lambda: self.ledger.kinds_in_use, lambda name: self.journal.kind(name),
            )  # fmt: skip
            self._is_grouped, self._is_spoilt, self._is_lost = False, False, True
            self._counts = Counts()
            self.clock = Clock()
            self._is_looked_at = False
            self.resume()
            self.clock.start(self.ledger.now_s)
        except BaseException:
            self.journal.close()
            raise

    def require_open(self) -> None:
        if self._is_lost:
            raise RuntimeError(CLOSED)
        if self._is_spoilt:
            raise RuntimeError(SPOILT)

    def require_runnable(self, request: Request, *, is_asked: bool = False) -> None:
        """Expand what a job asks for, or list it for a question; InputError for a job that can never run."""
        kinds, quota = self.kinds, self.settings.quota(request.tenant)
        limits = (MOST if most is None else most for most in (quota.accelerators, quota.ports))
        if not kinds.limited(kinds.list(request) if is_asked else kinds.expand(request), *limits).rows:
            most = ((quota.accelerators, "accelerators"), (quota.ports, "optical ports"))
            limits_text = " and ".join(f"{count} {what}" for count, what in most if count is not None)
            problem = (
                f"takes more than tenant {request.tenant} may ever hold, {limits_text}; ask for less, or a larger quota"
            )
            raise InputError("submit", request.name, problem)

    def known(self, key: str | None, body: dict[str, Any]) -> Decisions | None:
        """The answer to an event that has happened already; InputError where its key was another's."""
        self.require_open()
        record = None if key is None else self.journal.known(key)
        if record is None:
            return None
        asked = {name: value for name, value in record.body.items() if name not in NOT_ASKED}
        if asked != json.loads(json.dumps(body)):
            raise ConflictError("key", str(key), f"was given to another event, number {record.seq}; take a new one")
        return tuple(map(self.ledger.decision, record.decisions))

    def event(
        self,
        body: dict[str, Any],
        key: str | None,
        at_s: float | None,
        act: Callable[[], None],
        requests: Sequence[Request] | None = None,
    ) -> Decisions:
        """Apply an event, decide, write both; on any error nothing has happened."""
        self.require_open()
        self.leadership.require_writer()
        now_s = self.clock.asked(body["e"], at_s, self.ledger.now_s)
        ledger, before_s = self.ledger, self.ledger.now_s
        body["at_s"] = now_s if body["e"] == "clock" else max(now_s, before_s)
        self.state.begin()
        try:
            ledger.event(body, requests)
            act()
            if body["e"] == "replan" and not self.state.decisions and key is None:
                ledger.now_s = before_s
                return ()
            texts = {name: self.kinds.text(name) for name in body.get("kinds", ())}
            self.journal.append(key, body, self.state.decisions, texts)
        except BaseException as error:
            self._is_spoilt = self._is_grouped
            if not self._is_grouped:
                self._undo(error)
            if isinstance(error, sqlite3.OperationalError):
                raise _unwritten(self.journal, error) from error
            raise
        decisions = tuple(self.state.decisions)
        self._snapshot_if_due()
        self.tidy()
        return decisions

    def tidy(self) -> None:
        """Forget kinds of jobs where they take too much memory. The state is made anew then, since what it remembers
        goes by rows of kinds."""
        if not self.kinds.is_over:
            return
        self.kinds.trim()
        ledger = self.ledger
        ledger.forget()
        self.state = ClusterState(self.cluster, ledger)
        self.state.counts = self._counts

    def set_clock(self) -> Decisions:
        """All times move so that now is what the machine says."""
        self.clock.set(self.clock.wall_s)
        return self.event({"e": "clock"}, None, self.clock.wall_s, lambda: None)

    def probe(self) -> None:
        """UnwrittenError where nothing can be written now."""
        self.require_open()
        if self.journal.is_reader:
            return
        try:
            self.journal.probe()
        except sqlite3.OperationalError as error:
            raise _unwritten(self.journal, error) from error

    def noted(self, body: dict[str, Any], key: str | None, at_s: float | None, now: Decisions) -> Decisions:
        """Answer an event that changes nothing; under a key it is written, so that it does not when it comes again."""
        if key is None:
            return now
        return self.event({**body, "noted": True}, key, at_s, lambda: self.state.decisions.extend(now))

    def decided(self, after: int, most: int) -> list[Event]:
        """Events after number `after` and what was decided; UnknownError where some of them are forgotten."""
        self.require_open()
        records = list(self.journal.records(after, most))
        if after < self.journal.seq and (not records or records[0].seq > after + 1):
            problem = f"events after number {after} are not kept any more; read the state, and go on from its number"
            raise UnknownError("decided", "after", problem)
        decision = self.ledger.decision
        return [
            Event(r.seq, r.body["e"], r.body["at_s"], tuple(map(decision, () if "noted" in r.body else r.decisions)))
            for r in records
        ]

    @contextmanager
    def group(self) -> Iterator[None]:
        """Events inside become durable together, or none of them happens. Who stands by reads what has happened."""
        self.require_open()
        if self.journal.is_reader:
            self.refresh()
            yield
            return
        try:
            self.journal.begin_group()
            self._is_grouped = True
            yield
            self.require_open()
            self.journal.end_group()
        except BaseException as error:
            self._is_grouped = self._is_spoilt = False
            self._undo(error)
            if isinstance(error, sqlite3.OperationalError):
                raise _unwritten(self.journal, error) from error
            raise
        self._is_grouped = False
        self._snapshot_if_due()

    def _snapshot_if_due(self) -> None:
        """Events are on disk without it: where it cannot be written, that is tried again some events later."""
        if self._is_grouped or self.journal.seq - self._snapped < self.settings.snapshot_every:
            return
        try:
            self.snapshot()
        except sqlite3.OperationalError as error:
            log.warning("no snapshot could be written: %s; the events are on disk", error)
            self._snapped += max(1, self.settings.snapshot_every // 10)

    def snapshot(self) -> None:
        """Write the state beside the events, so that resuming reads few of them."""
        self.journal.snapshot(self.ledger.body(), self.settings.keep_events)
        self._snapped = self.journal.seq

    def _undo(self, error: BaseException) -> None:
        """Back to what is on disk; after another has taken the lead there is no way back."""
        if isinstance(error, DeposedError):
            self._is_lost = True
        else:
            self.resume()

    def refresh(self) -> None:
        """Read what the leader has written since."""
        seen = self.journal.seq
        self.journal.roll_back()
        if self._is_lost or self.journal.seq != seen:
            self.resume()

    def lead(self, settings: Settings | None, url: str) -> None:
        """Write the journal from now on, in a new term and under a lease; where it cannot be, an error, and all is as
        before. What jobs may run as is known from standing by."""
        journal, before = Journal(self.journal.path, is_leased=True), self.journal
        try:
            self._is_looked_at, self.journal = False, journal
            _, self.settings = agreed(journal, self.cluster, settings)
            self.resume()
            self.clock.start(self.ledger.now_s)
            leadership = Leadership(journal)
            leadership.hold_lease(url)
        except BaseException:
            self.journal = before
            journal.close()
            raise
        self.leadership = leadership
        before.close()

    def require_leading(self) -> int:
        """The term in which this controller leads; DeposedError where it may act no more."""
        if self._is_lost:
            raise DeposedError("journal", self.journal.path, CLOSED)
        return self.leadership.require()

    def resume(self) -> None:
        """State as the journal has it, the last snapshot and all events after it."""
        self._is_lost = True
        journal = self.journal
        journal.roll_back()
        ledger = Ledger(self.settings, self.kinds, journal, {NO_WIRING.name: NO_WIRING})
        self._snapped, snapshot = journal.last_snapshot() or (0, None)
        if snapshot is not None:
            ledger.restore(snapshot)
        for record in journal.records(self._snapped):
            journal.used(record)
            ledger.event(record.body)
            for body in record.decisions if "noted" not in record.body else ():
                ledger.apply(ledger.decision(body))
        self.kinds.require(ledger.kinds_in_use)
        if not self._is_looked_at:
            require_sound(self.cluster, ledger, journal.path)
            self._is_looked_at = True
        self.ledger = ledger
        self.state = ClusterState(self.cluster, ledger)
        self.state.counts = self._counts
        self._is_lost = False

    def close(self) -> None:
        """Let go of the journal; nothing is lost without it, resuming is quicker after it."""
        try:
            if not self._is_lost and not self.journal.is_reader:
                with suppress(DeposedError):
                    self.snapshot()
        finally:
            self._is_lost = True
            self.leadership.close()
            self.journal.close()


def _unwritten(journal: Journal, error: sqlite3.OperationalError) -> UnwrittenError:
    problem = f"cannot be written: {error}; make room on its disk, or mend it. Nothing has happened: ask again"
    return UnwrittenError("journal", journal.path, problem)
