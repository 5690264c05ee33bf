"""Carries decisions to the switches: compares circuits that must be on with those that are, and sets the difference."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from planner.controller.controller import Controller
from planner.controller.driver_calls import Calls
from planner.controller.switch_driver import (
    CircuitBusyError,
    CircuitError,
    Circuits,
    Driver,
    Resynced,
    holds_all,
)
from planner.model.errors import DeposedError, InputError
from planner.placement.placement import Place

FIRST_DELAY_S, MOST_DELAY_S = 0.5, 30.0
"""before what failed is tried again: the first time, and at most after doubling"""
log = logging.getLogger("planner.controller")
Action = Literal["connect", "release"]
_DONE: dict[Action, str] = {"connect": "connected", "release": "released"}
_ALL = ""
"""name of the call that is for all jobs"""


@dataclass(frozen=True)
class _Call:
    """One call of the driver."""

    action: Action | Literal["read back"]
    job: str
    circuits: Circuits
    """that are on after it"""


@dataclass(frozen=True)
class Trouble:
    """Why circuits of a job are not on, or not off, in the words of the driver."""

    action: Action
    said: str


class SwitchReconciler:
    """One controller's circuits over one driver; a crash at any point is repaired by the next tick."""

    def __init__(
        self,
        controller: Controller,
        driver: Driver,
        *,
        period_s: float = 1.0,
        read_back_s: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`read_back_s`: time after which the switches are asked again what is on, all of them; 0: never."""
        self.period_s = period_s
        self._read_back_s, self._read_back_at_s = read_back_s, clock() + read_back_s
        self._readings: list[Resynced] = []
        """that have ended, and are not looked at yet"""
        self._strange: tuple[str, ...] = ()
        """light of no job, as last told"""
        self._controller, self._driver, self._clock = controller, driver, clock
        self._is_stopping = False
        self._calls = Calls[_Call]()
        self._on: dict[str, Circuits] = {}
        """what this process has put on, and nobody off"""
        self._again: set[str] = set()
        """whose circuits were lost, and are put on again by the reading that is under way"""
        self._delays: dict[str, tuple[float, float]] = {}
        """by job: when it is tried again, and how long it then waits"""
        self._troubles: dict[str, Trouble] = {}
        """by job: what failed last and did not succeed since"""
        self.failures: Counter[Action] = Counter()
        """of the driver since this process began"""

    def tick(self) -> None:
        """Release what must not be on, then connect what must; of jobs that have shrunk what is gone, and of those that
        have grown what is new. Again where a part was found broken meanwhile."""
        while self._pass():
            pass

    def connected(self, job: str, place: Place | None) -> bool | None:
        """True if all circuits of a place are on; None for a job that waits or takes none."""
        if place is None or not place.has_circuits:
            return None
        return self._on.get(job) == place.circuits_json and job not in self._again

    def on(self) -> dict[str, Circuits]:
        """Circuits that this process has put on, by job, as of the last tick; does not wait."""
        return dict(self._on)

    def troubles(self) -> dict[str, Trouble]:
        """The driver's last message on each job whose circuits it could not put on, or off; does not wait."""
        return dict(self._troubles)

    def stop(self) -> None:
        """Let the tick at hand end with the job at hand, and later ones do nothing."""
        self._is_stopping = True

    def _pass(self) -> bool:
        """Once over all; True where a part has failed, so that other circuits are wanted now. DeposedError where
        another controller leads."""
        self._controller.require_leading()
        if self._hear():
            return True
        applied = self._driver.applied()
        wanted = self._look(applied)
        for job, circuits in applied.items():
            if wanted.get(job) != circuits:
                self._on.pop(job, None)
                then = wanted.get(job, [])
                if job not in wanted or not holds_all(then, circuits):
                    self._begin(_Call("release", job, then if holds_all(circuits, then) else []))
        self._read_back_if_due()
        if self._hear():
            return True
        for job, circuits in wanted.items():
            if self._on.get(job) != circuits:
                self._begin(_Call("connect", job, circuits))
                if self._hear():
                    return True
        return False

    def _look(self, applied: Mapping[str, Circuits]) -> dict[str, Circuits]:
        """Circuits that must be on, by job; forgets jobs that are gone, and circuits that somebody else has put off."""
        running = self._controller.running.items()
        wanted = {job: place.circuits_json for job, place in running if place.has_circuits}
        self._on = {job: on for job, on in self._on.items() if job in wanted and applied.get(job) == on}
        self._delays = {job: delay for job, delay in self._delays.items() if job in wanted or job in applied}
        self._troubles = {job: trouble for job, trouble in self._troubles.items() if job in wanted or job in applied}
        return wanted

    def _is_put_off(self, job: str) -> bool:
        return self._is_stopping or self._clock() < self._delays.get(job, (0.0, 0.0))[0]

    def _begin(self, call: _Call) -> None:
        """One call of the driver, unless the last one for that job is under way or has failed just now."""
        job, driver = call.job, self._driver
        if self._is_put_off(job):
            return
        if call.action == "release":
            self._calls.begin(job, call, lambda: driver.release(job, call.circuits))
        else:
            self._calls.begin(job, call, lambda: driver.connect(job, call.circuits))

    def _read_back_if_due(self) -> None:
        """Have the switches compared with what jobs have on: what changed by itself is set again by the driver."""
        if not self._read_back_s or self._is_stopping or self._clock() < self._read_back_at_s:
            return
        self._read_back_at_s = self._clock() + self._read_back_s
        self._calls.begin(_ALL, _Call("read back", _ALL, []), self._read_back)

    def _read_back(self) -> None:
        self._readings.append(self._driver.resync(self._again.add))

    def _compare(self, found: Resynced) -> None:
        """Tell what was not as it should be; jobs whose circuits could not be set again are connected anew, so that a
        part that is broken is found out."""
        for job in found.again:
            log.warning("circuits had changed by themselves, and are on again", extra={"fields": {"job": job}})
        for job, said in found.failed.items():
            log.warning("circuits had changed by themselves", extra={"fields": {"job": job, "said": said}})
            self._on.pop(job, None)
        if found.strange != self._strange:
            log.warning("light is on for no job", extra={"fields": {"light": list(found.strange)}})
        self._strange = found.strange

    def _hear(self) -> bool:
        """Note the outcome of calls that have ended; True where a part turned out to be broken, which the controller
        knows now."""
        is_new = False
        for call, error in self._calls.ended():
            if call.action == "read back":
                self._end_reading(is_whole=error is None)
            is_new |= self._heard(call, error)
        return is_new

    def _end_reading(self, *, is_whole: bool) -> None:
        """Jobs whose circuits were being put on again when a reading broke off are connected anew."""
        if not is_whole:
            for job in self._again:
                self._on.pop(job, None)
        self._again.clear()

    def _heard(self, call: _Call, error: BaseException | None) -> bool:
        if error is None:
            self._succeeded(call)
            return False
        if isinstance(error, DeposedError) or not isinstance(error, Exception):
            raise error
        said, part = _told(error)
        if call.action == "read back":
            log.warning("switches cannot be read back", extra={"fields": {"said": said}})
            return False
        fields: dict[str, Any] = {"job": call.job, "action": call.action, "part": part, "said": said}
        log.warning(f"circuits are not {_DONE[call.action]}", extra={"fields": fields})
        self.failures[call.action] += 1
        self._troubles[call.job] = Trouble(call.action, said)
        if call.action == "connect" and part is not None and self._fail(part):
            return True
        self._put_off(call.job, is_busy=call.action == "connect" and isinstance(error, CircuitBusyError))
        return False

    def _succeeded(self, call: _Call) -> None:
        if call.action == "read back":
            for found in self._readings:
                self._compare(found)
            self._readings.clear()
            return
        if call.action == "connect":
            self._on[call.job] = call.circuits
        self._delays.pop(call.job, None)
        self._troubles.pop(call.job, None)

    def _fail(self, part: str) -> bool:
        """True if the controller takes a part for broken from now on, and did not before."""
        try:
            is_new = part not in self._controller.down
            self._controller.fail(part)
            return is_new
        except InputError as error:
            log.warning("no such part", extra={"fields": {"part": part, "said": str(error)}})
            return False

    def _put_off(self, job: str, *, is_busy: bool) -> None:
        """Try again later, each time after twice as long; who waits for others' light does not wait long."""
        delay_s = FIRST_DELAY_S if is_busy else self._delays.get(job, (0.0, FIRST_DELAY_S))[1]
        self._delays[job] = (self._clock() + delay_s, min(2 * delay_s, MOST_DELAY_S))


def _told(error: Exception) -> tuple[str, str | None]:
    """What a driver says, and the part to blame; of an error that it did not expect, which is of this job alone, also
    where it comes from."""
    if isinstance(error, CircuitError):
        return str(error), error.part
    log.error("the driver has an error of its own", exc_info=error)
    return f"the driver has an error of its own: {type(error).__name__}: {error}", None
