"""Copies of a journal: made while it is written, and put in its place again.

A copy is one file. A journal in use has a log beside it, which SQLite takes to belong to whatever file bears its name:
a copy that is merely put there is overtaken by it. `restore` moves the log away, under the lock of whoever writes.
"""

import os
import secrets
import sqlite3
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from planner.controller.journal_file import BUSY_S, Seen, prepare, verify
from planner.controller.lease import read_beat
from planner.model.errors import InputError


@dataclass(frozen=True)
class Restored:
    """A copy that is in the place of a journal."""

    seq: int
    """number of its last event"""
    replaced: Path | None
    """the journal that was in its place, with its log; None where there was none"""


def back_up(path: str, copy: str) -> int:
    """Copy a journal as it is at one moment, also while a controller writes it; the number of the last event of the
    copy, which is checked. InputError."""
    _require_file(path)
    try:
        os.close(os.open(copy, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        try:
            return _copied(path, copy)
        except BaseException:
            Path(copy).unlink()
            raise
    except FileExistsError:
        raise InputError(copy, "", "exists already; name a new file") from None
    except (sqlite3.Error, OSError) as error:
        raise InputError(path, "", f"cannot be copied to {copy}: {error}") from None


def restore(copy: str, path: str) -> Restored:
    """Put a copy in the place of a journal that nobody writes, as another history, in a term after all of before:
    whoever led then neither writes nor acts on it. What was in its place is kept beside it. InputError."""
    _require_file(copy)
    if Path(path).exists() and Path(path).samefile(copy):
        raise InputError(copy, "", "is the journal itself; name a copy of it")
    fresh = Path(f"{path}-restored")
    try:
        seen = Seen(path)
        try:
            seq, identity = _made(copy, fresh, _last_term(path))
            replaced = _moved_away(Path(path))
            fresh.replace(path)
            _sync(Path(path).absolute().parent)
            seen.begin(identity, seq)
            return Restored(seq, replaced)
        finally:
            seen.close()
            fresh.unlink(missing_ok=True)
    except (sqlite3.Error, OSError) as error:
        raise InputError(copy, "", f"cannot be put in the place of {path}: {error}") from None


def _require_file(path: str) -> None:
    if not Path(path).is_file():
        raise InputError(path, "", "is no journal: there is no such file")


def _reader(path: str) -> sqlite3.Connection:
    """A connection that changes nothing."""
    return sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S)


def _copied(path: str, copy: str) -> int:
    """Fill an empty file with all that a journal holds, and check it; the number of the last event."""
    source, target = _reader(path), sqlite3.connect(copy)
    try:
        source.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")
        verify(target, copy)
        return _last(target)
    finally:
        target.close()
        source.close()


def _last(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0])


def _made(copy: str, fresh: Path, term: int) -> tuple[int, str]:
    """Write the journal that is to be, brought up to date, with an identity of its own and a term after `term`; last
    event and identity."""
    fresh.unlink(missing_ok=True)
    os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    source, target, identity = _reader(copy), sqlite3.connect(fresh, isolation_level=None), secrets.token_hex(8)
    try:
        if not source.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            raise InputError(copy, "", "is no journal; name what `planner backup` has made")
        source.backup(target)
        latest = max(term + 1, prepare(target, copy))
        verify(target, copy)
        meta = [("id", identity), ("term", str(latest))]
        target.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta)
        return _last(target), identity
    finally:
        target.close()
        source.close()


def _last_term(path: str) -> int:
    """The last term in which a journal was led, as far as it and its lease can be read; 0 where they cannot."""
    try:
        beat = read_beat(path)
    except OSError:
        beat = None
    told = 0 if beat is None else beat.term
    if not Path(path).is_file():
        return told
    db = _reader(path)
    try:
        return max(told, int(db.execute("SELECT value FROM meta WHERE name = 'term'").fetchone()[0]))
    except (sqlite3.DatabaseError, TypeError):
        return told
    finally:
        db.close()


def _moved_away(path: Path) -> Path | None:
    """Give a journal and its log another name; the file itself stays until another takes its place, so that there is
    one at any moment."""
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    log = path.with_name(f"{path.name}-wal")
    if not path.exists():
        log.unlink(missing_ok=True)
        return None
    names = (path.with_name(f"{path.name}-replaced-{number}") for number in count(1))
    free = next(name for name in names if not name.exists())
    os.link(path, free)
    if log.exists():
        log.replace(free.with_name(f"{free.name}-wal"))
    return free


def _sync(folder: Path) -> None:
    """Have names of files on disk."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
