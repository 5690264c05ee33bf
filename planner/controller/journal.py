"""Events and decisions on disk before anybody hears of them: SQLite, write-ahead log, synchronous=FULL.

One row of `events` holds one event with all that was decided for it, so that a transaction is all or nothing. What
decisions refer to by name (kinds, configurations, wirings) is written in the transaction that first needs it, and
forgotten at a snapshot with the last event that named it, unless a job of today does. `uses` says for each name the
last event that did, as far as a snapshot has been written since.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costmodel.parallelism.configuration import Configuration
from planner.controller.decisions import Decision, Move, Start
from planner.controller.journal_file import Seen, connect, prepare, require_format, summed, verify
from planner.fabrics.wiring import Wiring
from planner.model.errors import DeposedError, InputError
from planner.placement.placement import Place

PROBE_BYTES = 65536
"""that must find room before events are tried again"""
Mark = tuple[str, str, int]
"""sort of what is named (kind, configuration, wiring), its name, and its row if it has one"""
WRITER = json.JSONEncoder(separators=(",", ":"))
FORGET = {
    "kind": "DELETE FROM kinds WHERE name = ? AND 0 = ?",
    "configuration": "DELETE FROM configurations WHERE kind = ? AND row = ?",
    "wiring": "DELETE FROM wirings WHERE name = ? AND 0 = ?",
}


@dataclass(frozen=True)
class Record:
    """One event with its decisions."""

    seq: int
    body: dict[str, Any]
    decisions: list[dict[str, Any]]


class Journal:
    """One file, one writer, and any number of readers beside it.

    Each writer has a term of its own, one more than the last one's. It is in `meta`, and each transaction begins with
    a look at it: whoever has lost its place, and does not know, writes nothing.
    """

    def __init__(self, path: str | Path, *, is_reader: bool = False, is_leased: bool = False) -> None:
        """`is_leased`: who writes holds a lease soon, and may be ended where it hangs before."""
        self.path = str(path)
        self.is_reader = is_reader
        self._known: set[Mark] = set()
        self._fresh: list[Mark] = []
        self._used: dict[Mark, int] = {}
        """last events that named each, where `uses` does not say so yet"""
        self._is_grouped = False
        self.seq, self.term = 0, 0
        self._seen = Seen(self.path) if self.path != ":memory:" and not is_reader else None
        self._db = self._opened(is_leased)
        try:
            if is_reader:
                require_format(self._db, self.path)
            else:
                self.term = prepare(self._db, self.path)
                verify(self._db, self.path)
            self.roll_back()
            if self._seen is not None:
                self._seen.begin(self.meta("id") or "", self.seq)
        except BaseException:
            self.close()
            raise

    def _opened(self, is_leased: bool) -> sqlite3.Connection:
        """A connection to the file; whatever goes wrong, others may have its lock."""
        try:
            if self._seen is not None and is_leased:
                self._seen.claim()
            if self._seen is not None:
                self._seen.compare()
                _make_private(self.path)
            return connect(self.path)
        except BaseException:
            if self._seen is not None:
                self._seen.close()
            raise

    def meta(self, name: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Several values, all or none."""
        with self._whole():
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())

    @property
    def last_term(self) -> int:
        """The term of whoever was the last to write here."""
        return int(self.meta("term") or 0)

    def require_term(self) -> None:
        """DeposedError where another writes by now."""
        if self.last_term != self.term:
            problem = f"is written by another controller, in term {self.last_term}; this one had {self.term}"
            raise DeposedError("journal", self.path, problem)

    def _begin(self) -> None:
        """Begin a transaction, in which nobody else can take a term."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            self.require_term()
        except DeposedError:
            self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """A transaction of its own, undone where it cannot be written."""
        self._begin()
        try:
            yield
            self._db.execute("COMMIT")
        except sqlite3.Error:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise

    def known(self, key: str) -> Record | None:
        """The event that has this key."""
        row = self._db.execute("SELECT seq, body, decisions FROM events WHERE key = ?", (key,)).fetchone()
        return None if row is None else _record(row)

    def append(
        self, key: str | None, body: dict[str, Any], decisions: Sequence[Decision], kinds: Mapping[str, str]
    ) -> None:
        """Write an event and its decisions; on disk when this returns, or at the end of the group."""
        db = self._db
        if not self._is_grouped:
            self._begin()
        for name in body.get("kinds", ()):
            self._once(("kind", name, 0), "INSERT OR IGNORE INTO kinds VALUES (?, ?, ?)", (name, kinds[name]))
        for decision in decisions:
            if isinstance(decision, Start | Move):
                self._refer(decision.place)
        record = Record(self.seq + 1, body, [decision.body() for decision in decisions])
        row = (record.seq, key, WRITER.encode(body), WRITER.encode(record.decisions))
        db.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", summed(*row))
        self.seq += 1
        if not self._is_grouped:
            self._commit()
        self.used(record)

    def _refer(self, place: Place) -> None:
        """Write what a place names."""
        key = place.kind, place.row.number
        if ("configuration", *key) not in self._known:
            text = place.configuration.model_dump_json(exclude_defaults=True)
            self._once(
                ("configuration", *key), "INSERT OR IGNORE INTO configurations VALUES (?, ?, ?, ?)", (*key, text)
            )
        name = place.wiring.name
        if ("wiring", name, 0) not in self._known:
            values = name, place.wiring.text
            self._once(("wiring", name, 0), "INSERT OR IGNORE INTO wirings VALUES (?, ?, ?)", values)

    def used(self, record: Record) -> None:
        """Remember what an event and its decisions name, until the next snapshot."""
        marks = {("kind", name, 0) for name in record.body.get("kinds", ())}
        for decision in record.decisions:
            for place in (decision.get("place"), decision.get("before")):
                marks |= _marks(place) if place else set()
        self._used.update(dict.fromkeys(marks, record.seq))

    def _once(self, mark: Mark, statement: str, values: Sequence[object]) -> None:
        if mark not in self._known:
            self._db.execute(statement, summed(*values))
            self._known.add(mark)
            self._fresh.append(mark)

    def _commit(self) -> None:
        self._db.execute("COMMIT")
        self._fresh.clear()
        if self._seen is not None:
            self._seen.tell(self.seq)

    def begin_group(self) -> None:
        """Events from now on become durable together."""
        self._begin()
        self._is_grouped = True

    def end_group(self) -> None:
        self._is_grouped = False
        self._commit()

    def roll_back(self) -> None:
        """Forget what is not on disk; what a reader reads from here on is of this moment."""
        self._is_grouped = False
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._known.difference_update(self._fresh)
        self._fresh.clear()
        self._used.clear()
        if self.is_reader:
            self._db.execute("BEGIN")
        self.seq = self._db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]

    def snapshot(self, body: dict[str, Any], keep_events: int) -> None:
        """State after all events, so that resuming reads few; the last one alone is kept, and so many events, with
        what they and the jobs of `body` name."""
        db, last = self._db, self.seq - keep_events
        with self._whole():
            db.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", summed(self.seq, WRITER.encode(body)))
            db.execute("DELETE FROM snapshots WHERE seq < ?", (self.seq,))
            for job in body["jobs"]:
                marks = {("kind", job["kind"], 0)} | (_marks(job["place"]) if job["place"] else set())
                self._used.update(dict.fromkeys(marks, self.seq))
            db.executemany("INSERT OR REPLACE INTO uses VALUES (?, ?, ?, ?)", [(*m, s) for m, s in self._used.items()])
            db.execute("DELETE FROM events WHERE seq <= ?", (last,))
            gone: list[Mark] = db.execute("SELECT sort, name, row FROM uses WHERE seq <= ?", (last,)).fetchall()
            for sort, *name in gone:
                db.execute(FORGET[sort], name)
            db.execute("DELETE FROM uses WHERE seq <= ?", (last,))
        self._used.clear()
        self._known.difference_update(gone)

    def last_snapshot(self) -> tuple[int, dict[str, Any]] | None:
        row = self._db.execute("SELECT seq, body FROM snapshots ORDER BY seq DESC LIMIT 1").fetchone()
        return None if row is None else (row[0], json.loads(row[1]))

    def records(self, after: int = 0, most: int = -1) -> Iterator[Record]:
        """Events in order, at most so many."""
        statement = "SELECT seq, body, decisions FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
        rows = self._db.execute(statement, (after, most))
        yield from map(_record, rows)

    def kind(self, name: str) -> str:
        """The request of a kind of jobs, as JSON."""
        return self._named("SELECT body FROM kinds WHERE name = ?", (name,))

    def wiring(self, name: str) -> Wiring:
        """Circuits by name."""
        return Wiring.parse(self._named("SELECT body FROM wirings WHERE name = ?", (name,)))

    def configuration(self, kind: str, row: int) -> Configuration:
        """The configuration of a row of a kind."""
        text = self._named("SELECT body FROM configurations WHERE kind = ? AND row = ?", (kind, row))
        return Configuration.model_validate_json(text)

    def _named(self, statement: str, name: tuple[object, ...]) -> str:
        row = self._db.execute(statement, name).fetchone()
        if row is None:
            raise InputError("journal", self.path, f"does not hold {name}, which it names: it is damaged")
        return str(row[0])

    def probe(self) -> None:
        """sqlite3.OperationalError where events cannot be written now, which take new pages."""
        self.set_meta({"probe": "." * PROBE_BYTES})
        self.set_meta({"probe": ""})

    def close(self) -> None:
        self._db.close()
        if self._seen is not None:
            self._seen.close()


def _make_private(path: str) -> None:
    """A new file that nobody else may read. One that is there is not opened: to close it would free the locks of all
    connections of this process, and another process that ends its own would then remove the log of this one."""
    if not Path(path).exists():
        with suppress(FileExistsError):
            os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _marks(place: dict[str, Any]) -> set[Mark]:
    """Marks of what a place refers to by name, as the journal writes it."""
    kind, row = place["kind"], place["row"]
    return {("kind", kind, 0), ("configuration", kind, row), ("wiring", place["wiring"], 0)}


def _record(row: tuple[int, str, str]) -> Record:
    return Record(row[0], json.loads(row[1]), json.loads(row[2]))
