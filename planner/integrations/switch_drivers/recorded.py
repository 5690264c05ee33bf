"""Drivers that keep a record of what is on, which processes and threads of this machine share."""

import json
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planner.controller.switch_driver import (
    NO_CIRCUITS,
    CircuitBusyError,
    CircuitError,
    Circuits,
    OnJob,
    Resynced,
    UnsureError,
    added,
    holds_all,
)
from planner.integrations.private_files import locked, make_private, open_lock, write_private
from planner.integrations.switch_drivers.parts import joined, switches, taken
from planner.integrations.switch_drivers.ranges import free, try_lock

if TYPE_CHECKING:
    from costmodel.fabrics import FabricBase

_LOOK_AGAIN_S = 0.02


def unfenced() -> int:
    """The fence of a driver that no controller leads, as in a hook of a scheduler: there is no term."""
    return 0


@dataclass
class CircuitRecord:
    """Circuits by job."""

    path: Path
    on: dict[str, Circuits]
    setting: dict[str, Circuits]
    """those that are being set, or of which nobody knows"""
    fence: Callable[[], int]
    """as of the driver"""

    @property
    def all(self) -> dict[str, Circuits]:
        return self.on | self.setting

    def write(self) -> None:
        data = {"on": self.on, "setting": self.setting}
        self.fence()
        write_private(self.path, json.dumps(data, separators=(",", ":")) + "\n")

    def require_free(self, job: str, circuits: Circuits) -> None:
        """CircuitBusyError where another job has some of this light."""
        wanted = taken(circuits)
        for other, theirs in self.all.items():
            if other != job and (both := wanted & taken(theirs)):
                raise CircuitBusyError(f"{min(both)} is in use by {other}")


class RecordedDriver:
    """Circuits by job in `switches.json` of a folder: those that are on, and those that are being set, among which are
    those that a job has on already.

    Whoever dies while setting circuits leaves them among the latter. The circuits of two jobs are set side by side
    where they lie on different switches, and one after the other where they share one: each call locks its switches,
    so that one that hangs delays nobody elsewhere. The record is locked for moments, and replaced as a whole, so that
    it is read without.

    `fence` is asked before each write of the record and each request to a switch: the term of the controller in whose
    name it is, or an error where another leads by now. What had been begun is then left as after a crash.
    """

    wait_s = 60.0
    """for a switch that another call sets"""
    takes_back = True
    """whether what is refused is off afterwards, also what may have been on before"""

    def __init__(self, folder: Path, fence: Callable[[], int] = unfenced) -> None:
        self.folder = folder
        self.fence = fence
        self._path = folder / "switches.json"

    def require_served(self, fabric: "FabricBase", source: str) -> None:
        """InputError where the switches are known to be of another cluster than the one that is served; `source`: the
        file that has that one."""

    def set(self, job: str, circuits: Circuits, lock: int) -> None:
        """Make these circuits: all, or none and CircuitError; UnsureError where it is not known. Of a job that has some
        on already, they are the others.

        `lock` is the open file by which their switches are locked: who has it keeps them locked."""
        raise NotImplementedError

    def unset(self, job: str, circuits: Circuits, lock: int) -> None:
        """Undo these circuits, which may be gone; CircuitError where some may be left."""

    def locks(self, circuits: Circuits) -> Collection[str]:
        """Switches that are set for these circuits, by name."""
        return switches(circuits)

    def connect(self, job: str, circuits: Circuits) -> None:
        with self._alone(self.locks(circuits)) as lock:
            with self._record() as record:
                if record.on.get(job, []) == circuits and job not in record.setting:
                    return
                if not holds_all(circuits, record.all.get(job, [])):
                    raise CircuitError(f"{job} has other circuits on; release them first")
                record.require_free(job, circuits)
                more, is_new = self.more(circuits, record.on.get(job, [])), job not in record.setting
                record.setting[job] = circuits
                record.write()
            self._make(job, more, lock, is_new=is_new)

    def more(self, circuits: Circuits, before: Circuits) -> Circuits:
        """Those of a job's circuits that are set where it has others on, which stay so."""
        return added(circuits, before) if before else circuits

    def _make(self, job: str, circuits: Circuits, lock: int, *, is_new: bool) -> None:
        """Set what the record says is being set; what is refused leaves the record, what is unsure stays in it.
        `is_new`: none of it can have been on before."""
        try:
            self.set(job, circuits, lock)
        except UnsureError:
            raise
        except CircuitError as error:
            if not (is_new or self.takes_back):
                raise UnsureError(f"{error}; circuits of before may be on", error.part) from None
            self._settle(job, is_on=False)
            raise
        self._settle(job, is_on=True)

    def _settle(self, job: str, *, is_on: bool) -> None:
        """Write down what came of circuits that were being set."""
        with self._record() as record:
            circuits = record.setting.pop(job, None)
            if circuits is None:
                record.fence()
                raise UnsureError(f"circuits of {job} were put on or off by another meanwhile")
            if is_on:
                record.on[job] = circuits
            record.write()

    def release(self, job: str, but: Circuits = NO_CIRCUITS) -> None:
        make_private(self.folder)
        while (circuits := self.applied().get(job)) is not None:
            stay = but if holds_all(circuits, but) else NO_CIRCUITS
            if stay and circuits == stay:
                return
            with self._alone(self.locks(circuits)) as lock:
                with self._record() as record:
                    if record.all.get(job) != circuits:
                        continue
                    is_on = holds_all(record.on.pop(job, []), stay)
                    self._note(record, job, stay if is_on else [], circuits)
                self.unset(job, added(circuits, stay), lock)
                with self._record() as record:
                    self._note(record, job, stay if is_on else [], [] if is_on else stay)
                return

    @staticmethod
    def _note(record: CircuitRecord, job: str, on: Circuits, setting: Circuits) -> None:
        """Write down what a job has on, and what may be on."""
        for table, circuits in ((record.on, on), (record.setting, setting)):
            table.pop(job, None)
            if circuits:
                table[job] = circuits
        record.write()

    def lit(self) -> list[dict[str, Any]]:
        """Circuits that the switches say are on, whoever has them; CircuitError where they cannot tell."""
        raise NotImplementedError

    def resync(self, begins: OnJob = lambda job: None) -> Resynced:
        make_private(self.folder)
        before, again, failed = self.applied(), list[str](), dict[str, str]()
        seen: Circuits = [{"circuits": self.lit()}]
        on, joins = taken(seen), joined(seen)
        for job, circuits in before.items():
            if taken(circuits) <= on and joined(circuits) <= joins:
                continue
            begins(job)
            try:
                again += [job] if self._set_again(job, circuits, is_dark=on.isdisjoint(taken(circuits))) else []
            except CircuitError as error:
                failed[job] = str(error)
        known = (light for held in (before, self.applied()) for circuits in held.values() for light in taken(circuits))
        return Resynced(tuple(again), failed, tuple(sorted(on.difference(known))))

    def _set_again(self, job: str, circuits: Circuits, *, is_dark: bool = False) -> bool:
        """Make what a job should have; False where it has been released meanwhile, or gets more beside what is on:
        whoever connects it goes on with that. `is_dark`: none of it was seen on.

        What the switches refuse is on no more, or not known: whoever wants it sees that, and tries again."""
        with self._alone(self.locks(circuits)) as lock:
            with self._record() as record:
                if record.all.get(job) != circuits or record.on.get(job, circuits) != circuits:
                    return False
                is_new = is_dark and job not in record.setting
                record.setting[job] = circuits
                record.on.pop(job, None)
                record.write()
            self._make(job, circuits, lock, is_new=is_new)
        return True

    def applied(self) -> dict[str, Circuits]:
        return self._read().all

    @contextmanager
    def _alone(self, names: Collection[str]) -> Iterator[int]:
        """Hold these switches, all at once or none: who waits for one keeps nobody from the others.

        CircuitBusyError where another call does not let go of them."""
        make_private(self.folder)
        lock, end_s = open_lock(self.folder / "switches.lock"), time.monotonic() + self.wait_s
        try:
            while (held := try_lock(lock, names)) is not None:
                if time.monotonic() > end_s:
                    raise CircuitBusyError(f"a command has been setting {held} for more than {self.wait_s:g} s")
                time.sleep(_LOOK_AGAIN_S)
            yield lock
        finally:
            free(lock)
            os.close(lock)

    @contextmanager
    def _record(self) -> Iterator[CircuitRecord]:
        """Hold the record, as it is on disk; CircuitError where that is damaged."""
        make_private(self.folder)
        with locked(self.folder / "lock"):
            yield self._read()

    def _read(self) -> CircuitRecord:
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
            return CircuitRecord(self._path, dict(data["on"]), dict(data["setting"]), self.fence)
        except FileNotFoundError:
            return CircuitRecord(self._path, {}, {}, self.fence)
        except (ValueError, KeyError, TypeError) as error:
            remedy = "put all circuits off, then remove the file"
            raise CircuitError(f"{self._path} holds no switch states ({error}); {remedy}") from None
