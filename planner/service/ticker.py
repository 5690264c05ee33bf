"""A thread that runs one control loop of the controller again and again."""

import logging
from collections.abc import Callable
from threading import Event, Thread
from typing import Protocol

from planner.model.errors import DeposedError

LEAST_S = 0.02
"""between two ticks, however much is decided"""
log = logging.getLogger("planner.serve")


class ControlLoop(Protocol):
    """Compares the desired state of the controller with the observed state and acts on the difference."""

    period_s: float
    """at the latest after this time it is called again; sooner where something was decided"""

    def tick(self) -> None:
        """May be called at any time."""


class Ticker:
    """Calls `tick` when woken, at the latest after its period; an error is logged, and the next tick repairs it. It
    ends where another controller leads."""

    def __init__(self, control_loop: ControlLoop, on_tick: Callable[[], None]) -> None:
        self._control_loop, self._on_tick = control_loop, on_tick
        self._woken = Event()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name=type(control_loop).__name__, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        self._woken.set()

    def stop(self) -> None:
        """Return when the tick at hand has ended."""
        self._stopped.set()
        self._woken.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._woken.clear()
            try:
                self._control_loop.tick()
                self._on_tick()
            except DeposedError as error:
                log.error("%s ends: %s", type(self._control_loop).__name__, error)
                return
            except Exception:
                log.exception("a tick of %s failed", type(self._control_loop).__name__)
            self._stopped.wait(LEAST_S)
            self._woken.wait(self._control_loop.period_s)
