"""Who has the lock of a journal and is to hold its lease soon: from the lock to the first lease, nothing else tells.

The claim lies in the file of the lock, behind what was on disk last, and is written right after the lock is taken. It
is not renewed: the system says for how long the thread that wrote it has run, and one that runs no more is ended as a
leader is that does not renew its lease. Who needs no lease claims nothing, and may be idle for as long as it likes.
"""

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import get_native_id
from zlib import crc32

from planner.controller.lease import SILENT_S, Beat, machine, steady_s, this_process

_AT, _BYTES = 64, 512
"""place in the file"""


@dataclass(frozen=True)
class Claim:
    """What the file says."""

    process: Beat
    """of no term yet"""
    thread: int
    """that begins, as the system counts them"""


def claim(file: int) -> None:
    """Tell that this thread has the lock, and that a lease is to follow."""
    text = json.dumps({"thread": get_native_id(), **asdict(this_process())}, separators=(",", ":")).encode()
    os.pwrite(file, (b"%08x %s" % (crc32(text), text)).ljust(_BYTES), _AT)


def disclaim(file: int) -> None:
    """Tell that no lease is to follow."""
    os.pwrite(file, b"".ljust(_BYTES), _AT)


def read_claim(path: str) -> Claim | None:
    """Of a journal; None where there is none, or one that is being written."""
    try:
        with Path(f"{path}-seq").open("rb") as file:
            check, _, text = os.pread(file.fileno(), _BYTES, _AT).rstrip().partition(b" ")
        fields = json.loads(text)
        thread = int(fields.pop("thread"))
        return Claim(Beat(**fields), thread) if check == b"%08x" % crc32(text) else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def worked(each: Claim) -> str:
    """For how long the thread of a claim has run, as the system counts it; empty where that is not to be told."""
    folder = Path(f"/proc/{each.process.pid}/task/{each.thread}")
    for name in ("schedstat", "stat"):
        try:
            return (folder / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
    return ""


class ClaimWatch:
    """Looks at the claim of another process."""

    def __init__(self, path: str, clock: Callable[[], float] = steady_s) -> None:
        self._path, self._clock = path, clock
        self._seen: tuple[Claim, str] | None = None
        self._since_s = self._looked_s = clock()

    def look(self) -> None:
        """See whether who claims the journal has run since."""
        self._looked_s = self._clock()
        found = read_claim(self._path)
        seen = None if found is None else (found, worked(found))
        if seen != self._seen:
            self._seen, self._since_s = seen, self._clock()

    @property
    def idle(self) -> Beat | None:
        """The process of this machine that claims the journal, and had not run for longer than a lease lasts when it
        was last looked at."""
        if self._seen is None or self._looked_s - self._since_s <= SILENT_S:
            return None
        process = self._seen[0].process
        return process if process.machine == machine() else None
