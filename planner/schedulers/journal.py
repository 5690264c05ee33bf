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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from costmodel.configuration import Configuration
from planner.errors import InputError
from planner.schedulers.decisions import Decision, Move, Start
from planner.schedulers.places import Place, Wiring

FORMAT = 2
SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE kinds (name TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE configurations (kind TEXT, row INTEGER, body TEXT NOT NULL, PRIMARY KEY (kind, row)) WITHOUT ROWID",
    "CREATE TABLE wirings (name TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE events (seq INTEGER PRIMARY KEY, key TEXT UNIQUE, body TEXT NOT NULL, decisions TEXT NOT NULL)",
    "CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)",
    "CREATE TABLE uses (sort TEXT, name TEXT, row INTEGER, seq INTEGER, PRIMARY KEY (sort, name, row)) WITHOUT ROWID",
)
Mark = tuple[str, str, int]
"""sort of what is named (kind, configuration, wiring), its name, and its row if it has one"""
FORGET = {
    "kind": "DELETE FROM kinds WHERE name = ? AND 0 = ?",
    "configuration": "DELETE FROM configurations WHERE kind = ? AND row = ?",
    "wiring": "DELETE FROM wirings WHERE name = ? AND 0 = ?",
}
CHECKPOINT_PAGES = 10_000
"""of the log, before they are moved to the file: seldom, as an event waits for it some tens of milliseconds"""
BUSY_S = 5.0
"""how long another process that holds the file is waited for"""


@dataclass(frozen=True)
class Record:
    """One event with its decisions."""

    seq: int
    body: dict[str, Any]
    decisions: list[dict[str, Any]]


class Journal:
    """One file, one writer."""

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        if self.path != ":memory:":
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        self._known: set[Mark] = set()
        self._fresh: list[Mark] = []
        self._used: dict[Mark, int] = {}
        """last events that named each, where `uses` does not say so yet"""
        self._is_grouped = False
        self.seq = 0
        self._db = connect(self.path)
        try:
            self._create()
            self.roll_back()
        except BaseException:
            self._db.close()
            raise

    def _create(self) -> None:
        """Take the file for this process alone; its tables, where it has none yet."""
        try:
            self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            self._db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
            self._db.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            problem = f"{error}; another controller uses it: stop that one, or take another file"
            raise InputError("journal", self.path, problem) from None
        except sqlite3.DatabaseError as error:
            raise InputError("journal", self.path, f"{error}; take another file") from None
        if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            for statement in SCHEMA:
                self._db.execute(statement)
            self._db.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT),))
        self._db.execute("COMMIT")
        if self.meta("format") != str(FORMAT):
            raise InputError("journal", self.path, f"its format is {self.meta('format')}, not {FORMAT}")

    def meta(self, name: str) -> str | None:
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def set_meta(self, values: Mapping[str, str]) -> None:
        """Several values, all or none."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", values.items())
        self._db.execute("COMMIT")

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
            db.execute("BEGIN IMMEDIATE")
        for name in body.get("kinds", ()):
            self._once(("kind", name, 0), "INSERT OR IGNORE INTO kinds VALUES (?, ?)", (name, kinds[name]))
        for decision in decisions:
            if isinstance(decision, Start | Move):
                self._refer(decision.place)
        record = Record(self.seq + 1, body, [decision.body() for decision in decisions])
        row = (record.seq, key, _text(body), _text(record.decisions))
        db.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
        if not self._is_grouped:
            self._commit()
        self.seq += 1
        self.used(record)

    def _refer(self, place: Place) -> None:
        """Write what a place names."""
        key = place.kind, place.row.number
        if ("configuration", *key) not in self._known:
            text = place.configuration.model_dump_json(exclude_defaults=True)
            self._once(("configuration", *key), "INSERT OR IGNORE INTO configurations VALUES (?, ?, ?)", (*key, text))
        name = place.wiring.name
        if ("wiring", name, 0) not in self._known:
            values = name, place.wiring.text
            self._once(("wiring", name, 0), "INSERT OR IGNORE INTO wirings VALUES (?, ?)", values)

    def used(self, record: Record) -> None:
        """Remember what an event and its decisions name, until the next snapshot."""
        marks = {("kind", name, 0) for name in record.body.get("kinds", ())}
        for decision in record.decisions:
            for place in (decision.get("place"), decision.get("before")):
                marks |= _marks(place) if place else set()
        self._used.update(dict.fromkeys(marks, record.seq))

    def _once(self, mark: Mark, statement: str, values: Sequence[object]) -> None:
        if mark not in self._known:
            self._db.execute(statement, tuple(values))
            self._known.add(mark)
            self._fresh.append(mark)

    def _commit(self) -> None:
        self._db.execute("COMMIT")
        self._fresh.clear()

    def begin_group(self) -> None:
        """Events from now on become durable together."""
        self._db.execute("BEGIN IMMEDIATE")
        self._is_grouped = True

    def end_group(self) -> None:
        self._is_grouped = False
        self._commit()

    def roll_back(self) -> None:
        """Forget what is not on disk."""
        self._is_grouped = False
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        self._known.difference_update(self._fresh)
        self._fresh.clear()
        self._used.clear()
        self.seq = self._db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]

    def snapshot(self, body: dict[str, Any], keep_events: int) -> None:
        """State after all events, so that resuming reads few; the last one alone is kept, and so many events, with
        what they and the jobs of `body` name."""
        db, last = self._db, self.seq - keep_events
        db.execute("BEGIN IMMEDIATE")
        db.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?)", (self.seq, _text(body)))
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
        db.execute("COMMIT")
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
        """What jobs of a kind asked for."""
        return self._named("SELECT body FROM kinds WHERE name = ?", (name,))

    def wiring(self, name: str) -> Wiring:
        """Circuits by name."""
        return Wiring.parse(self._named("SELECT body FROM wirings WHERE name = ?", (name,)))

    def configuration(self, kind: str, row: int) -> Configuration:
        """How jobs of a kind run in a row of it."""
        text = self._named("SELECT body FROM configurations WHERE kind = ? AND row = ?", (kind, row))
        return Configuration.model_validate_json(text)

    def _named(self, statement: str, name: tuple[object, ...]) -> str:
        row = self._db.execute(statement, name).fetchone()
        if row is None:
            raise InputError("journal", self.path, f"does not hold {name}, which it names: it is damaged")
        return str(row[0])

    def close(self) -> None:
        self._db.close()


def connect(path: str) -> sqlite3.Connection:
    """A connection whose transactions begin and end where they are told to."""
    return sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _marks(place: dict[str, Any]) -> set[Mark]:
    """What a place names, as the journal writes it."""
    kind, row = place["kind"], place["row"]
    return {("kind", kind, 0), ("configuration", kind, row), ("wiring", place["wiring"], 0)}


def _record(row: tuple[int, str, str]) -> Record:
    return Record(row[0], json.loads(row[1]), json.loads(row[2]))
