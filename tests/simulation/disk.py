"""A disk that is full at times, and of which a power cut leaves what had been synced and any part of the rest."""

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

FULL = ("INSERT", "COMMIT", "CREATE")
"""statements that take room"""
READS = ("SELECT", "PRAGMA query_only")
"""beginnings of statements that change nothing on disk"""
FULL_SYNC = 2
"""`PRAGMA synchronous` from which on each transaction waits for the disk"""


@dataclass
class Disk:
    """The files of a journal, and of the driver's record in the folder `record`."""

    path: Path
    record: Path
    full_s: float = -1.0
    """until when nothing more finds room"""
    durable: int = 0
    """bytes of the log that were synced"""
    replaced: list[tuple[Path, bytes | None]] = field(default_factory=list)
    """files that others have taken the place of, in order, whose folder was not synced since, as they were"""
    cut: dict[Path, bytes] = field(default_factory=dict)
    """what the machine had in memory of the journal when its power was cut"""

    def __post_init__(self) -> None:
        self.log = self.path.with_name(f"{self.path.name}-wal")
        self._log = str(self.log)

    def synced(self) -> None:
        """A transaction is over: its log is on disk."""
        try:
            self.durable = os.stat(self._log).st_size
        except FileNotFoundError:
            self.durable = 0

    def take(self) -> None:
        """The power is cut now: what follows does not reach the disk."""
        self.cut = {each: each.read_bytes() for each in (self.path, self.log) if each.exists()}

    def tear(self, random: Random) -> None:
        """Leave what a power cut leaves: of the log any part of what was not synced, its last block garbled; of names
        that were not synced those before some moment; of what never waits for the disk anything."""
        for name in ("-wal", "-shm"):
            self.path.with_name(self.path.name + name).unlink(missing_ok=True)
        for each, text in self.cut.items():
            each.write_bytes(text)
        if self.log in self.cut:
            text = self.cut[self.log]
            end = random.randint(min(self.durable, len(text)), len(text))
            kept = bytearray(text[:end])
            if end > self.durable and random.random() < 0.5:
                first = max(self.durable, end - 512)
                kept[first:end] = random.randbytes(end - first)
            self.log.write_bytes(bytes(kept))
        for file, text in reversed(self.replaced[random.randint(0, len(self.replaced)) :]):
            if text is None:
                file.unlink(missing_ok=True)
            else:
                file.write_bytes(text)
        if random.random() < 0.3:
            self.path.with_name(f"{self.path.name}-seq").write_bytes(b"")
        self.replaced.clear()
        self.cut.clear()
        self.synced()


class Connection:
    """A connection to a journal of which each statement that writes is a point, before and after."""

    def __init__(
        self, inner: sqlite3.Connection, disk: Disk, is_full: Callable[[], bool], on_point: Callable[[], None],
        on_commit: Callable[[sqlite3.Connection, bool], None],
    ) -> None:  # fmt: skip
        """`on_commit` is told of each transaction that is on disk, and whether it changed anything."""
        self.inner, self._disk, self._is_full, self._on_point = inner, disk, is_full, on_point
        self._on_commit = on_commit
        self._changes, self._is_writing = 0, False
        self.is_lost = False
        """whether a file server took its locks away in a transaction"""

    def execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        if statement.startswith(READS) or statement == "BEGIN":
            return self.inner.execute(statement, values)
        return self._run(statement, lambda: self.inner.execute(statement, values))

    def executemany(self, statement: str, rows: Any) -> sqlite3.Cursor:
        return self._run(statement, lambda: self.inner.executemany(statement, rows))

    def _run(self, statement: str, run: Callable[[], sqlite3.Cursor]) -> sqlite3.Cursor:
        self._on_point()
        if self.is_lost:
            raise sqlite3.OperationalError("disk I/O error")
        if statement.startswith(FULL) and self._is_full():
            raise sqlite3.OperationalError("database or disk is full")
        if statement.startswith("BEGIN"):
            self._changes = self.inner.total_changes
        cursor = run()
        self._is_writing = self.inner.in_transaction
        if statement == "COMMIT":
            self._on_commit(self.inner, self.inner.total_changes > self._changes)
        self._on_point()
        if not self.inner.in_transaction and self._is_synced:
            self._disk.synced()
        return cursor

    @property
    def _is_synced(self) -> bool:
        return bool(self.inner.execute("PRAGMA synchronous").fetchone()[0] >= FULL_SYNC)

    def lose_locks(self) -> None:
        """As of a machine that a file server gave up: what it was writing is undone."""
        if self._is_writing:
            self.inner.rollback()
            self.is_lost = True

    def close(self) -> None:
        self._is_writing = False
        self.inner.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class System:
    """`os` for what writes files of the record: it knows what a power cut would undo, and which locks are open."""

    def __init__(self, disk: Disk, is_full: Callable[[], bool], locks: Callable[[], set[int]]) -> None:
        self._disk, self._is_full, self._locks = disk, is_full, locks

    def replace(self, source: Path, target: Path) -> None:
        if self._is_full():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._disk.replaced.append((target, target.read_bytes() if target.exists() else None))
        os.replace(source, target)

    def fsync(self, file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            self._disk.replaced.clear()

    def close(self, file: int) -> None:
        self._locks().discard(file)
        os.close(file)

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)
