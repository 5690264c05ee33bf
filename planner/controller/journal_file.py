"""The file of a journal: its tables and their checksums, older formats, one writer, and what was on disk last.

Beside `planner.db` lies `planner.db-seq`: the lock of the one process that writes, and the number of the last event
that was on disk. It is written after the event and never waits for the disk, so that it is never ahead of what was
durable: a log that holds less has lost events.
"""

import os
import secrets
import sqlite3
import struct
import time
from collections.abc import Callable, Iterator
from fcntl import LOCK_EX, LOCK_NB, flock
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

from planner.controller.claim import claim, disclaim
from planner.model.errors import InputError

FORMAT = 3
SUMMED = {
    "kinds": "name TEXT PRIMARY KEY, body TEXT NOT NULL, sum TEXT NOT NULL",
    "configurations": "kind TEXT, row INTEGER, body TEXT NOT NULL, sum TEXT NOT NULL, PRIMARY KEY (kind, row)",
    "wirings": "name TEXT PRIMARY KEY, body TEXT NOT NULL, sum TEXT NOT NULL",
    "events": "seq INTEGER PRIMARY KEY, key TEXT UNIQUE, body TEXT NOT NULL, decisions TEXT NOT NULL, "
    "sum TEXT NOT NULL",
    "snapshots": "seq INTEGER PRIMARY KEY, body TEXT NOT NULL, sum TEXT NOT NULL",
}
"""tables whose rows end with a checksum of what stands before it"""
BY_SEQ = {"events", "snapshots"}
USES = "CREATE TABLE uses (sort TEXT, name TEXT, row INTEGER, seq INTEGER, PRIMARY KEY (sort, name, row)) WITHOUT ROWID"
CHECKPOINT_PAGES = 10_000
"""of the log, before they are moved to the file: seldom, as an event waits for it some tens of milliseconds"""
BUSY_S = 5.0
"""how long another process that holds the file is waited for"""
_SEEN = struct.Struct(">16sQI")
"""identity of the journal, number of its last event, checksum of both"""


def summed(*values: object) -> tuple[object, ...]:
    """A row with its checksum."""
    text = "\x1f".join(map(repr, values))
    return (*values, blake2b(text.encode(), digest_size=8).hexdigest())


def connect(path: str) -> sqlite3.Connection:
    """A connection whose transactions begin and end where the caller says."""
    return sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)


def prepare(db: sqlite3.Connection, path: str) -> int:
    """Begin the next term, in which no writer of an earlier one writes any more: its number. Tables are of today's
    format then, made where there were none, brought up to date where they were older."""
    try:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA synchronous=FULL")
        db.execute(f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}")
        db.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        problem = f"{error}; another controller uses it: stop that one, or take another file"
        raise InputError("journal", path, problem) from None
    except sqlite3.DatabaseError as error:
        raise InputError("journal", path, f"{error}; take another file") from None
    is_new = not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone()
    if is_new:
        _create(db)
    found = str(db.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()[0])
    if found not in (*_UPGRADES, str(FORMAT)):
        db.execute("ROLLBACK")
        problem = f"its format is {found}, not {FORMAT} or an older one; open it with a newer version"
        raise InputError("journal", path, problem)
    while found in _UPGRADES:
        found = _UPGRADES[found](db)
    db.execute("INSERT OR REPLACE INTO meta VALUES ('format', ?)", (found,))
    db.execute("INSERT OR IGNORE INTO meta VALUES ('id', ?)", (secrets.token_hex(8),))
    last = db.execute("SELECT value FROM meta WHERE name = 'term'").fetchone()
    if last and not str(last[0]).isdecimal():
        db.execute("ROLLBACK")
        raise InputError("journal", path, f"is damaged: its term is '{last[0]}'; put a copy in its place")
    term = 1 + int(last[0] if last else 0)
    db.execute("INSERT OR REPLACE INTO meta VALUES ('term', ?)", (str(term),))
    db.execute("COMMIT")
    if is_new:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return term


def require_format(db: sqlite3.Connection, path: str) -> None:
    """InputError for what a reader cannot read: nothing is made or changed."""
    try:
        db.execute("PRAGMA query_only=ON")
        found = str(dict(db.execute("SELECT name, value FROM meta"))["format"])
    except sqlite3.DatabaseError as error:
        raise InputError("journal", path, f"cannot be read: {error}") from None
    if found != str(FORMAT):
        problem = f"its format is {found}, not {FORMAT}; stop whoever writes it, so that it is brought up to date"
        raise InputError("journal", path, problem)


def is_held(path: str) -> bool:
    """True if a process writes a journal, as far as locks tell."""
    file = os.open(f"{path}-seq", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def _create(db: sqlite3.Connection) -> None:
    db.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    for table, columns in SUMMED.items():
        db.execute(f"CREATE TABLE {table} ({columns}){'' if table in BY_SEQ else ' WITHOUT ROWID'}")
    db.execute(USES)
    db.execute("INSERT INTO meta VALUES ('format', ?)", (str(FORMAT),))


def _from_1(db: sqlite3.Connection) -> str:
    """It forgot nothing: all that is named counts as used by the last event."""
    db.execute(USES)
    last = "(SELECT coalesce(max(seq), 0) FROM events)"
    db.execute(f"INSERT INTO uses SELECT 'kind', name, 0, {last} FROM kinds")
    db.execute(f"INSERT INTO uses SELECT 'configuration', kind, row, {last} FROM configurations")
    db.execute(f"INSERT INTO uses SELECT 'wiring', name, 0, {last} FROM wirings")
    return "2"


def _from_2(db: sqlite3.Connection) -> str:
    """It had no checksums."""
    for table, columns in SUMMED.items():
        rows = db.execute(f"SELECT * FROM {table}").fetchall()
        db.execute(f"DROP TABLE {table}")
        db.execute(f"CREATE TABLE {table} ({columns}){'' if table in BY_SEQ else ' WITHOUT ROWID'}")
        places = ", ".join("?" * (columns.count(" TEXT") + columns.count(" INTEGER")))
        db.executemany(f"INSERT INTO {table} VALUES ({places})", [summed(*row) for row in rows])
    return "3"


_UPGRADES: dict[str, Callable[[sqlite3.Connection], str]] = {"1": _from_1, "2": _from_2}


def verify(db: sqlite3.Connection, path: str) -> None:
    """InputError for a journal of which anything is not as it was written."""
    try:
        for problem in _damages(db):
            remedy = "put a copy in its place (`planner backup` makes one while the service runs)"
            raise InputError("journal", path, f"is damaged: {problem}; {remedy}")
    except sqlite3.DatabaseError as error:
        raise InputError("journal", path, f"is damaged: {error}; put a copy in its place") from None


def _damages(db: sqlite3.Connection) -> Iterator[str]:
    answer = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if answer != "ok":
        yield str(answer)
    db.execute("SELECT * FROM meta").fetchall()
    for table in SUMMED:
        for row in db.execute(f"SELECT * FROM {table}"):
            if summed(*row[:-1]) != tuple(row):
                yield f"{table[:-1]} {row[0]} is not as it was written"
    first, last, number = db.execute("SELECT min(seq), max(seq), count(*) FROM events").fetchone()
    snapped = db.execute("SELECT max(seq) FROM snapshots").fetchone()[0] or 0
    if number and (last - first + 1 != number or first > snapped + 1):
        yield f"of events {min(first, snapped + 1)} to {last} some are missing"


def _end_of(path: str) -> tuple[bytes, int]:
    """Identity and last event of a journal, read without a change; empty and 0 where nothing can be read."""
    if not Path(path).is_file():
        return b"", 0
    db = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, timeout=BUSY_S)
    try:
        identity = db.execute("SELECT value FROM meta WHERE name = 'id'").fetchone()
        seq = db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()[0]
        return b"" if identity is None else str(identity[0]).encode(), int(seq)
    except sqlite3.DatabaseError:
        return b"", 0
    finally:
        db.close()


class Seen:
    """The file beside a journal: held by the process that writes, and knows its last event."""

    def __init__(self, path: str) -> None:
        """InputError where another process holds it."""
        self._path, self._journal = f"{path}-seq", path
        self._file = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        self._is_closed = False
        self._id = b""
        try:
            self._hold()
            disclaim(self._file)
        except BaseException:
            self.close()
            raise

    def _hold(self) -> None:
        until_s = time.monotonic() + BUSY_S
        while not self._is_held():
            if time.monotonic() > until_s:
                problem = "another controller uses it: stop that one, or take another file"
                raise InputError("journal", self._journal, problem)
            time.sleep(0.05)

    def _is_held(self) -> bool:
        try:
            flock(self._file, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def compare(self) -> None:
        """InputError for a journal that ends before an event which was on disk, or is lost; nothing of it is changed:
        what is left in its log may be of use."""
        found = os.pread(self._file, _SEEN.size, 0)
        if len(found) < _SEEN.size:
            return
        whose, last, check = _SEEN.unpack(found)
        identity, seq = _end_of(self._journal)
        if check != crc32(found[:-4]) or identity not in (whose, b"") or last <= seq:
            return
        path = Path(self._journal)
        if path.is_file() and path.stat().st_size:
            problem = (
                f"ends with event {seq}, but event {last} was on disk: its log is damaged or cut off; put back the "
                f"file with its -wal, or delete {self._path} to go on without events {seq + 1} to {last}"
            )
        else:
            problem = (
                f"is {'empty' if path.exists() else 'gone'}, but event {last} was on disk: put a copy in its place by "
                f"`planner restore COPY {self._journal}`, or delete {self._path} to begin anew, where no job runs"
            )
        raise InputError("journal", self._journal, problem)

    def begin(self, identity: str, seq: int) -> None:
        """Keep the last event of this journal from now on."""
        self._id = identity.encode()
        self.tell(seq)

    def tell(self, seq: int) -> None:
        """Events up to this number are on disk."""
        text = _SEEN.pack(self._id, seq, 0)[:-4]
        os.pwrite(self._file, text + struct.pack(">I", crc32(text)), 0)

    def claim(self) -> None:
        """Tell that this thread begins to lead, and holds a lease soon."""
        claim(self._file)

    def close(self) -> None:
        """Let others have it."""
        if not self._is_closed:
            self._is_closed = True
            os.close(self._file)
