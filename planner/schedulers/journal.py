"""Events and decisions on disk before anybody hears of them: SQLite, write-ahead log, synchronous=FULL.

One row of `events` holds one event with all that was decided for it, so that a transaction is all or nothing. What
decisions refer to by name (kinds, configurations, wirings) is written in the transaction that first needs it.
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

FORMAT = 1
SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE kinds (name TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE configurations (kind TEXT, row INTEGER, body TEXT NOT NULL, PRIMARY KEY (kind, row)) WITHOUT ROWID",
    "CREATE TABLE wirings (name TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE events (seq INTEGER PRIMARY KEY, key TEXT UNIQUE, body TEXT NOT NULL, decisions TEXT NOT NULL)",
    "CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, body TEXT NOT NULL)",
)
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
        self._known: set[object] = set()
        self._fresh: list[object] = []
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
            self._once(("kind", name), "INSERT OR IGNORE INTO kinds VALUES (?, ?)", (name, kinds[name]))
        for decision in decisions:
            if isinstance(decision, Start | Move):
                self._refer(decision)
        row = (self.seq + 1, key, _text(body), _text([decision.body() for decision in decisions]))
        db.execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
        if not self._is_grouped:
            self._commit()
        self.seq += 1

    def _refer(self, decision: Start | Move) -> None:
        """Write what a place names."""
        place = decision.place
        key = place.kind, place.row.number
        if ("row", *key) not in self._known:
            text = place.configuration.model_dump_json(exclude_defaults=True)
            self._once(("row", *key), "INSERT OR IGNORE INTO configurations VALUES (?, ?, ?)", (*key, text))
        wiring = place.wiring
        if ("wiring", wiring.name) not in self._known:
            self._once(
                ("wiring", wiring.name), "INSERT OR IGNORE INTO wirings VALUES (?, ?)", (wiring.name, wiring.text)
            )

    def _once(self, mark: object, statement: str, values: Sequence[object]) -> None:
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
        self.seq = self._db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]

    def snapshot(self, body: dict[str, Any]) -> None:
        """State after all events, so that resuming reads few; the last one alone is kept."""
        self._db.execute("BEGIN IMMEDIATE")
        self._db.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?)", (self.seq, _text(body)))
        self._db.execute("DELETE FROM snapshots WHERE seq < ?", (self.seq,))
        self._db.execute("COMMIT")

    def last_snapshot(self) -> tuple[int, dict[str, Any]] | None:
        row = self._db.execute("SELECT seq, body FROM snapshots ORDER BY seq DESC LIMIT 1").fetchone()
        return None if row is None else (row[0], json.loads(row[1]))

    def records(self, after: int = 0) -> Iterator[Record]:
        """Events in order."""
        rows = self._db.execute("SELECT seq, body, decisions FROM events WHERE seq > ? ORDER BY seq", (after,))
        yield from map(_record, rows)

    def kinds(self) -> dict[str, str]:
        """What jobs asked for, by kind."""
        return dict(self._db.execute("SELECT name, body FROM kinds").fetchall())

    def wirings(self) -> dict[str, str]:
        return dict(self._db.execute("SELECT name, body FROM wirings").fetchall())

    def configurations(self) -> dict[tuple[str, int], Configuration]:
        rows = self._db.execute("SELECT kind, row, body FROM configurations").fetchall()
        return {(kind, row): Configuration.model_validate_json(body) for kind, row, body in rows}

    def close(self) -> None:
        self._db.close()


def connect(path: str) -> sqlite3.Connection:
    """A connection whose transactions begin and end where they are told to."""
    return sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)


def _text(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def _record(row: tuple[int, str, str]) -> Record:
    return Record(row[0], json.loads(row[1]), json.loads(row[2]))
