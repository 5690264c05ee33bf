"""The one thread that calls the controller: events of many clients become durable with one write to disk."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

from planner.controller import Controller
from planner.model.errors import DeposedError, InputError, UnwrittenError

PROBE_S = 1.0
"""between two looks at a journal that could not be written"""
GROUP_S = 0.005
"""a group ends with the event that goes on beyond this: who came first does not wait for all others"""
log = logging.getLogger("planner.serve")


class BusyError(Exception):
    """Too many wait, or for too long: come again later."""


class StoppingError(Exception):
    """The service takes no more: it is being stopped, or has lost its journal."""


@dataclass
class Command:
    """One call of the controller, and who waits for its outcome."""

    call: Callable[[Controller], Any]
    future: "asyncio.Future[Any]"
    since_s: float = field(default_factory=time.monotonic)
    is_urgent: bool = False
    """goes first, and is done however long it waited"""
    outcome: Any = None
    error: Exception | None = None

    def settle(self) -> None:
        """Hand over the outcome, in the loop of who waits, if it still does."""
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.outcome)
        else:
            self.future.set_exception(self.error)


class CommandQueue:
    """A queue of calls, bounded in number and time, and the thread that takes them in groups, one after the other.

    A call that waited for too long is refused, not done: after an overload the queue is empty within that time,
    however much each call costs.
    """

    def __init__(
        self, controller: Controller, most: int, most_wait_s: float, on_group: Callable[[list[Command], int], None]
    ) -> None:
        """`on_group` is told each group that is on disk, and the number of events in the journal then."""
        self._controller, self._most, self._on_group = controller, most, on_group
        self._most_wait_s = most_wait_s
        self._tasks: deque[Command] = deque()
        self._changed = Condition()
        self._is_closed = False
        self.is_lost = False
        """whether the journal is closed, cannot be read any more, or is another's"""
        self.trouble: UnwrittenError | None = None
        """why the journal cannot be written now, as on a full disk"""
        self._looked_s = 0.0
        """when the journal was looked at"""
        self._thread = Thread(target=self._run, name="writer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def __len__(self) -> int:
        return len(self._tasks)

    @property
    def is_busy(self) -> bool:
        """True if the next call that is not urgent will be refused, unless one is taken meanwhile."""
        return len(self._tasks) >= self._most or self.waited_s > self._most_wait_s

    @property
    def waited_s(self) -> float:
        """For how long the oldest call waits by now."""
        try:
            return time.monotonic() - next(task.since_s for task in self._tasks if not task.is_urgent)
        except (StopIteration, RuntimeError):
            return 0.0

    def put(self, task: Command) -> None:
        """Queue a call; an urgent one is the next and always finds room. BusyError, StoppingError."""
        with self._changed:
            if self._is_closed or self.is_lost:
                raise StoppingError
            if task.is_urgent:
                self._tasks.appendleft(task)
            elif self.is_busy:
                raise BusyError
            else:
                self._tasks.append(task)
            self._changed.notify()

    def close(self) -> None:
        """Take no more, and return when all that was taken is done."""
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while self._wait():
            group = self._group()
            self._on_group(group, self._controller.seq)

    def _wait(self) -> bool:
        """Wait for a call; False when none will come."""
        while True:
            if self.trouble and time.monotonic() > self._looked_s + PROBE_S:
                self._look()
            with self._changed:
                if not self._tasks and not self._is_closed:
                    self._changed.wait(PROBE_S if self.trouble else None)
                if self._tasks or self._is_closed:
                    return bool(self._tasks)

    def _next(self, refused: list[Command]) -> Command | None:
        """The next call that somebody still waits for; those before it that waited for too long are refused."""
        while self._tasks:
            task = self._tasks.popleft()
            if task.future.done():
                continue
            if task.is_urgent or self._is_closed or time.monotonic() - task.since_s <= self._most_wait_s:
                return task
            task.error = BusyError()
            refused.append(task)
        return None

    def _group(self) -> list[Command]:
        """Calls that are done and on disk together, if one of them breaks it each for itself; and those refused."""
        group, refused = list[Command](), list[Command]()
        until_s = time.perf_counter() + GROUP_S
        try:
            with self._controller.group():
                while time.perf_counter() < until_s and (task := self._next(refused)):
                    group.append(task)
                    _do(task, self._controller)
        except Exception as error:
            is_known = isinstance(error, UnwrittenError)
            log.error("a group of events was undone; each is tried for itself", exc_info=not is_known)
            if not group and (task := self._next(refused)):
                group.append(task)
            for task in group:
                self._alone(task)
        return group + refused

    def _alone(self, task: Command) -> None:
        try:
            with self._controller.group():
                _do(task, self._controller)
        except Exception as error:
            log.error("an event failed: %s", error, exc_info=not isinstance(error, UnwrittenError))
            task.error = error
            self._look()

    def _look(self) -> None:
        """Find out whether the journal can be written."""
        self._looked_s = time.monotonic()
        try:
            self._controller.probe()
            self.trouble = None
        except DeposedError:
            self.is_lost = True
        except UnwrittenError as error:
            self.trouble = error
        except Exception:
            self.is_lost = True


def _do(task: Command, controller: Controller) -> None:
    task.outcome = task.error = None
    try:
        task.outcome = task.call(controller)
    except InputError as error:
        task.error = error
