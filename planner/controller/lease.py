"""The lease of the controller that leads: a file beside its journal that it renews, and a term that is its own.

`planner.db-lease` says which term leads, how often it has renewed, and which process of which machine it is. A leader
acts for LEASE_S from before its last renewal; who stands by calls it silent after SILENT_S without one. Both are
durations, each by its own machine's clock, so that no two clocks need to agree. The term itself is in the journal,
where each transaction compares it: the file only says that somebody lives.
"""

import json
import os
import select
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from uuid import uuid4
from zlib import crc32

from planner.model.errors import DeposedError

RENEW_S = 1.0
"""between two renewals"""
LEASE_S = 6.0
"""without one, until a leader acts no more"""
SILENT_S = 7.0
"""without one, until another may lead: clocks that count durations are far less than a seventh apart"""
_KILLED_S = 2.0
"""within which a killed process is gone"""
_BYTES = 1024
"""of the file: written in place, so that a full disk stops no renewal"""


def steady_s() -> float:
    """Seconds by a clock that never jumps, and goes on while the machine sleeps."""
    return time.clock_gettime(getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC))


@dataclass(frozen=True)
class Beat:
    """What the file says."""

    term: int
    number: int
    """renewals in this term"""
    machine: str
    """where processes are known by number: a boot, and a namespace of processes; empty: the leader has let go"""
    pid: int
    began: int
    """start of the process, in ticks since the boot: numbers are given again"""
    url: str
    """where it listens"""


@cache
def machine() -> str:
    """This machine since it was booted, and this namespace of processes; where that is not to be told, no other."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}/{os.stat('/proc/self/ns/pid').st_ino}"
    except OSError:
        return str(uuid4())


def _began(pid: int) -> int:
    """Start of a process, in ticks since the boot; 0 where it has ended, or that is not to be told."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        state, *numbers = text.rpartition(")")[2].split()
        return 0 if state in "ZX" else int(numbers[18])
    except (OSError, ValueError, IndexError):
        return 0


def this_process(term: int = 0, url: str = "") -> Beat:
    """What this process says of itself at first."""
    return Beat(term, 0, machine(), os.getpid(), _began(os.getpid()), url)


def read_beat(path: str) -> Beat | None:
    """What the lease of a journal says; None where there is none, or one that is being written. OSError where it
    cannot be read."""
    try:
        check, _, text = Path(f"{path}-lease").read_bytes().rstrip().partition(b" ")
        return Beat(**json.loads(text)) if check == b"%08x" % crc32(text) else None
    except (FileNotFoundError, ValueError, TypeError):
        return None


class Lease:
    """That of a leader; threads may ask."""

    def __init__(self, path: str, term: int, url: str, clock: Callable[[], float] = steady_s) -> None:
        """Begin to lead in a term that the journal has given."""
        self._clock = clock
        self._file = os.open(f"{path}-lease", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        self._beat = this_process(term, url)
        self._until_s = clock() + LEASE_S
        self.renew()

    @property
    def left_s(self) -> float:
        """For how long it holds without another renewal."""
        return self._until_s - self._clock()

    def renew(self) -> None:
        """Tell that the leader lives; DeposedError where that comes too late."""
        began_s = self._clock()
        self.require()
        self._write(replace(self._beat, number=self._beat.number + 1))
        self._until_s = began_s + LEASE_S

    def require(self) -> None:
        """DeposedError where it has run out: another may lead by now."""
        if self.left_s <= 0:
            problem = f"of term {self._beat.term} was not renewed for {LEASE_S:g} s: another controller may lead by now"
            raise DeposedError("lease", "journal", problem)

    def close(self) -> None:
        """Let go, unless it has run out: then another may have written here."""
        if self.left_s > 0:
            with suppress(OSError):
                self._write(replace(self._beat, machine=""))
        os.close(self._file)

    def _write(self, beat: Beat) -> None:
        text = json.dumps(asdict(beat), separators=(",", ":")).encode()
        os.pwrite(self._file, (b"%08x %s" % (crc32(text), text)).ljust(_BYTES), 0)
        os.fsync(self._file)
        self._beat = beat


class LeaseWatch:
    """Looks at the lease of another process."""

    def __init__(self, path: str, clock: Callable[[], float] = steady_s) -> None:
        self._path, self._clock = path, clock
        self.beat: Beat | None = None
        """as last seen"""
        self._since_s = self._looked_s = clock()

    def look(self) -> None:
        """See whether it was renewed; OSError where it cannot be read, and nothing is known."""
        began_s = self._clock()
        found = read_beat(self._path)
        self._looked_s = began_s
        if found is not None and found != self.beat:
            self.beat, self._since_s = found, self._clock()

    @property
    def silent_s(self) -> float:
        """For how long no renewal was seen when it was last looked at: time in which nobody looks tells nothing."""
        return max(self._looked_s - self._since_s, 0.0)

    @property
    def is_silent(self) -> bool:
        """True if its leader acts no more."""
        return self.silent_s > SILENT_S

    @property
    def is_gone(self) -> bool:
        """True if the leader has let go, or its process has ended, as this machine can tell."""
        beat = self.beat
        if beat is None or not beat.machine:
            return True
        return beat.machine == machine() and (not beat.began or _began(beat.pid) != beat.began)


def end_leader(beat: Beat) -> bool:
    """Kill a leader that is silent, so that it can never go on; True once it is gone. False where it is on another
    machine, or is somebody else's process."""
    if beat.machine != machine() or not beat.began:
        return False
    try:
        process = os.pidfd_open(beat.pid)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    try:
        if _began(beat.pid) != beat.began:
            return True
        signal.pidfd_send_signal(process, signal.SIGKILL)
        return bool(select.select([process], [], [], _KILLED_S)[0])
    except PermissionError:
        return False
    finally:
        os.close(process)
