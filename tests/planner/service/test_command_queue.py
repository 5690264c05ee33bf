"""The queue before the controller is bounded in number and in time; what waited for too long is refused, not done."""

import asyncio
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import pytest

from planner.controller import Controller
from planner.service.command_queue import BusyError, Command, CommandQueue
from tests.planner.service.running import MOST_S, until

LONG_S = 2 * MOST_S


class Calm:
    """As much of a controller as the writer asks for."""

    seq = 0

    def group(self) -> AbstractContextManager[None]:
        return nullcontext()


class Queue:
    """A writer that is not started yet, and what it did in which order."""

    def __init__(self, most: int = 10) -> None:
        self.loop = asyncio.new_event_loop()
        self.done: list[str] = []
        self.settled: list[Command] = []
        self.writer = CommandQueue(
            cast(Controller, Calm()), most, MOST_S, lambda group, seq: self.settled.extend(group)
        )

    def put(self, name: str, waited_s: float = 0.0, **about: Any) -> Command:
        """Queue a call that has waited for so long already."""
        since_s = time.monotonic() - waited_s
        task = Command(lambda _: self.done.append(name), self.loop.create_future(), since_s, **about)
        self.writer.put(task)
        return task

    def run(self) -> None:
        """Let all that was taken be settled."""
        count = len(self.writer)
        self.writer.start()
        until(lambda: len(self.settled) == count)
        self.writer.close()
        self.loop.close()


def test_who_waited_for_too_long_is_refused_without_work() -> None:
    queue = Queue()
    fresh = queue.put("fresh")
    old = queue.put("old", LONG_S)
    urgent = queue.put("urgent", LONG_S, is_urgent=True)
    queue.run()
    assert queue.done == ["urgent", "fresh"]
    assert isinstance(old.error, BusyError)
    assert (fresh.error, urgent.error) == (None, None)


def test_while_the_oldest_waits_for_too_long_nobody_is_taken() -> None:
    queue = Queue()
    queue.put("old", LONG_S)
    assert queue.writer.is_busy
    assert queue.writer.waited_s >= LONG_S
    with pytest.raises(BusyError):
        queue.put("late")
    queue.put("urgent", is_urgent=True)
    assert queue.writer.is_busy, "an urgent call before it makes the oldest no younger"
    queue.run()
    assert queue.done == ["urgent"]
    assert not queue.writer.is_busy
    assert queue.writer.waited_s == 0


def test_number_bounds_it_too() -> None:
    queue = Queue(most=2)
    queue.put("a")
    assert not queue.writer.is_busy
    queue.put("b")
    assert queue.writer.is_busy
    with pytest.raises(BusyError):
        queue.put("c")
    queue.run()
    assert queue.done == ["a", "b"]
