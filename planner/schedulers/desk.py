"""Journal and floor of one controller, kept in step: an event is on disk with its decisions, or has not happened."""

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from planner.cluster import Cluster
from planner.errors import InputError
from planner.schedulers.decisions import Decision
from planner.schedulers.floor import Floor
from planner.schedulers.journal import Journal, Record
from planner.schedulers.kinds import Kinds
from planner.schedulers.places import NO_WIRING, Wiring
from planner.schedulers.settings import Request, Settings
from planner.schedulers.state import Configurations, Ledger

Decisions = tuple[Decision, ...]
CLOSED = "the controller is closed, or lost its journal: open it again"


class Desk:
    """What events change, and how that becomes durable."""

    def __init__(self, cluster: Cluster | None, path: str | Path, settings: Settings | None) -> None:
        self.journal = Journal(path)
        self.ledger: Ledger
        self.floor: Floor
        try:
            self.cluster, self.settings = _agreed(self.journal, cluster, settings)
            self.kinds = Kinds(self.cluster)
            self._configurations: Configurations = {}
            self._is_grouped, self._is_lost = False, True
            self.resume()
        except BaseException:
            self.journal.close()
            raise

    def require_open(self) -> None:
        if self._is_lost:
            raise RuntimeError(CLOSED)

    def known(self, key: str | None, body: dict[str, Any]) -> Decisions | None:
        """The answer to an event that has happened already; InputError where its key was another's."""
        self.require_open()
        record = None if key is None else self.journal.known(key)
        if record is None:
            return None
        told = {name: value for name, value in record.body.items() if name != "at_s"}
        if told != json.loads(json.dumps(body)):
            raise InputError("key", str(key), f"was given to another event, number {record.seq}; take a new one")
        return self._decisions(record)

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
        now_s = time.time() if at_s is None else at_s
        if not (math.isfinite(now_s) and now_s >= 0):
            raise InputError(body["e"], "at_s", f"{now_s} is no time; give seconds from 0 on")
        ledger, before_s = self.ledger, self.ledger.now_s
        body["at_s"] = max(now_s, before_s)
        self.floor.decisions = []
        try:
            ledger.event(body, requests)
            act()
            if body["e"] == "replan" and not self.floor.decisions:
                ledger.now_s = before_s
                return ()
            self.journal.append(key, body, self.floor.decisions, self.kinds.texts)
        except BaseException:
            self.resume()
            raise
        self._snapshot_if_due()
        return tuple(self.floor.decisions)

    @contextmanager
    def group(self) -> Iterator[None]:
        """Events inside become durable together, or none of them happens."""
        self.require_open()
        self.journal.begin_group()
        self._is_grouped = True
        try:
            yield
            self.journal.end_group()
        except BaseException:
            self._is_grouped = False
            self.resume()
            raise
        self._is_grouped = False
        self._snapshot_if_due()

    def _snapshot_if_due(self) -> None:
        if not self._is_grouped and self.journal.seq - self._snapped >= self.settings.snapshot_every:
            self.snapshot()

    def snapshot(self) -> None:
        """Write the state beside the events, so that resuming reads few of them."""
        self.journal.snapshot(self.ledger.body())
        self._snapped = self.journal.seq

    def resume(self) -> None:
        """State as the journal has it, the last snapshot and all events after it."""
        self._is_lost = True
        journal = self.journal
        journal.roll_back()
        ledger = Ledger(self.settings, self.kinds)
        for name, text in journal.kinds().items():
            self.kinds.restore(name, text)
        ledger.wirings = {NO_WIRING.name: NO_WIRING} | {n: Wiring.parse(text) for n, text in journal.wirings().items()}
        configurations = self._configurations = journal.configurations()
        self._snapped, snapshot = journal.last_snapshot() or (0, None)
        if snapshot is not None:
            ledger.restore(snapshot, configurations)
        for record in journal.records(self._snapped):
            ledger.event(record.body)
            for body in record.decisions:
                ledger.apply(ledger.decision(body, configurations))
        self.ledger = ledger
        self.floor = Floor(self.cluster, ledger)
        self._is_lost = False

    def _decisions(self, record: Record) -> Decisions:
        places = [body.get(name) for body in record.decisions for name in ("place", "before")]
        if any(place and (place["kind"], place["row"]) not in self._configurations for place in places):
            self._configurations = self.journal.configurations()
        configurations = self._configurations
        return tuple(self.ledger.decision(body, configurations) for body in record.decisions)

    def close(self) -> None:
        """Let go of the journal; nothing is lost without it, resuming is quicker after it."""
        if not self._is_lost:
            self.snapshot()
        self._is_lost = True
        self.journal.close()


def _agreed(journal: Journal, cluster: Cluster | None, settings: Settings | None) -> tuple[Cluster, Settings]:
    """Cluster and settings of a journal, written there where it is new."""
    written, rules = journal.meta("cluster"), journal.meta("settings")
    if written is None:
        if cluster is None:
            raise InputError("journal", journal.path, "is new; say which cluster it is for")
    else:
        try:
            old = Cluster.model_validate_json(written)
        except ValidationError as error:
            raise InputError("journal", journal.path, f"holds no cluster: {error.errors()[0]['msg']}") from None
        if cluster is not None and cluster != old:
            raise InputError("journal", journal.path, "is of another cluster; give that one, or a new file")
        cluster = old
    if settings is None:
        settings = Settings() if rules is None else Settings.model_validate_json(rules)
    values = {"cluster": cluster.model_dump_json(by_alias=True), "settings": settings.model_dump_json(by_alias=True)}
    if (values["cluster"], values["settings"]) != (written, rules):
        journal.set_meta(values)
    return cluster, settings
