"""Drivers that keep a record of what is on, which processes of this machine share under a lock."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from planner.schedulers.drivers.driver import CircuitBusyError, CircuitError, Circuits, UnsureError
from planner.schedulers.drivers.parts import taken
from planner.schedulers.private_files import locked, make_private, write_private


class RecordedDriver:
    """Circuits by job in `switches.json` of a folder: those that are on, and those that are being set.

    Whoever dies while setting circuits leaves them among the latter. Switches are set one job after the other, under
    a lock; the record is replaced as a whole, so that it is read without.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._path = folder / "switches.json"
        self._on: dict[str, Circuits] = {}
        self._setting: dict[str, Circuits] = {}
        self._lock = -1
        """the open file whose lock is held"""

    def set(self, job: str, circuits: Circuits) -> None:
        """Make these circuits: all, or none and CircuitError; UnsureError where it is not known."""
        raise NotImplementedError

    def unset(self, job: str, circuits: Circuits) -> None:
        """Undo these circuits, which may be gone; CircuitError where some may be left."""

    def connect(self, job: str, circuits: Circuits) -> None:
        with self._held():
            if self._on.get(job, []) == circuits and job not in self._setting:
                return
            if self._all().get(job, circuits) != circuits:
                raise CircuitError(f"{job} has other circuits on; release them first")
            self._require_free(job, circuits)
            self._setting[job] = circuits
            self._write()
            try:
                self.set(job, circuits)
            except UnsureError:
                raise
            except CircuitError:
                del self._setting[job]
                self._write()
                raise
            self._on[job] = self._setting.pop(job)
            self._write()

    def release(self, job: str) -> None:
        with self._held():
            if job not in self._all():
                return
            self._setting[job] = self._all()[job]
            self._on.pop(job, None)
            self._write()
            self.unset(job, self._setting[job])
            del self._setting[job]
            self._write()

    def applied(self) -> dict[str, Circuits]:
        on, setting = self._read()
        return on | setting

    def _all(self) -> dict[str, Circuits]:
        return self._on | self._setting

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Hold the lock, with the record as it is on disk; CircuitError where that is damaged."""
        make_private(self.folder)
        with locked(self.folder / "lock") as self._lock:
            self._on, self._setting = self._read()
            yield

    def _read(self) -> tuple[dict[str, Circuits], dict[str, Circuits]]:
        """What is on, and what is being set."""
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            return dict(data["on"]), dict(data["setting"])
        except FileNotFoundError:
            return {}, {}
        except (ValueError, KeyError, TypeError) as error:
            remedy = "put all circuits off, then remove the file"
            raise CircuitError(f"{self._path} holds no switch states ({error}); {remedy}") from None

    def _write(self) -> None:
        data = {"on": self._on, "setting": self._setting}
        write_private(self._path, json.dumps(data, separators=(",", ":")) + "\n")

    def _require_free(self, job: str, circuits: Circuits) -> None:
        wanted = taken(circuits)
        for other, theirs in self._all().items():
            if other != job and (both := wanted & taken(theirs)):
                raise CircuitBusyError(f"{min(both)} is in use by {other}")
