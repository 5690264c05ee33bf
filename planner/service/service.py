"""A controller for many clients: a queue before it, control loops beside it, news of what it decides."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from planner.controller import Controller
from planner.controller.switch_reconciler import Action, SwitchReconciler, Trouble
from planner.model.errors import UnwrittenError
from planner.placement.placement import Place
from planner.service.command_queue import BusyError, Command, CommandQueue, StoppingError
from planner.service.lease_keeper import LeaseKeeper
from planner.service.options import Options
from planner.service.ticker import ControlLoop, Ticker

log = logging.getLogger("planner.serve")
MOST_FOLLOWERS = 100
"""who wait for news at the same time"""
T = TypeVar("T")


class Service:
    """Calls from one event loop, which `start` is called in."""

    def __init__(
        self,
        controller: Controller,
        *,
        most_queued: int = Options.most_queued,
        most_wait_s: float = Options.most_wait_s,
        control_loops: Sequence[ControlLoop] = (),
        carrier: SwitchReconciler | None = None,
        keeper: LeaseKeeper | None = None,
    ) -> None:
        """`carrier` sets circuits; without one somebody else does, who follows the decisions. `keeper` holds the lease,
        or waits for it where the controller stands by: control loops begin when it leads."""
        self.controller = controller
        self.control_loops: list[ControlLoop] = [*control_loops, *([carrier] if carrier else ())]
        self._carrier, self._keeper = carrier, keeper
        self.is_stopping = False
        self.seq = controller.seq
        """events that are on disk"""
        self._writer = CommandQueue(controller, most_queued, most_wait_s, self._on_group)
        self._tickers: list[Ticker] = []
        self._followers: set[asyncio.Future[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self) -> None:
        """Begin to work; `control_loops` are fixed from now on."""
        self._loop = asyncio.get_running_loop()
        self._writer.start()
        if self._keeper is not None:
            self._keeper.begin(self._changed, self._lost)
            self._keeper.start()
        self._begin_to_act()

    def _begin_to_act(self) -> None:
        """Start the control loops, once, if this controller leads."""
        if self.is_standby or self._tickers or self.is_stopping:
            return
        self._tickers = [Ticker(control_loop, self._ticked) for control_loop in self.control_loops]
        for ticker in self._tickers:
            ticker.start()

    def _changed(self) -> None:
        """This controller leads, or the leader has written; in the thread of the keeper."""
        if self._loop is not None and not self.is_stopping:
            self._loop.call_soon_threadsafe(self._begin_to_act)
            self._loop.call_soon_threadsafe(self._look)

    def _lost(self) -> None:
        """Another leads by now; in the thread of the keeper."""
        self._writer.is_lost = True

    def close(self) -> None:
        """Finish what was taken, stop the control loops, close the journal. Blocks."""
        self.is_stopping = True
        if self._carrier is not None:
            self._carrier.stop()
        for ticker in self._tickers:
            ticker.stop()
        self._writer.close()
        if self._keeper is not None:
            self._keeper.stop()
        try:
            self.controller.close()
        except Exception:
            log.exception("the journal was not closed; what was answered is in it")
            self._writer.is_lost = True

    def connected(self, job: str, place: Place | None) -> bool | None:
        """True if all circuits of a job are on; None where it has none, or nothing here sets them."""
        return None if self._carrier is None else self._carrier.connected(job, place)

    def troubles(self) -> dict[str, Trouble]:
        """By job: why its circuits are not on, or not off."""
        return {} if self._carrier is None else self._carrier.troubles()

    @property
    def failures(self) -> Mapping[Action, int]:
        """Number of calls, by action, in which a driver could not put circuits on, or off."""
        return {} if self._carrier is None else self._carrier.failures

    @property
    def is_standby(self) -> bool:
        """True if another controller leads: events are refused, questions are answered."""
        return self.controller.leadership.journal.is_reader

    @property
    def num_queued(self) -> int:
        return len(self._writer)

    @property
    def is_busy(self) -> bool:
        """True if the queue takes no more calls now."""
        return self._writer.is_busy

    @property
    def waited_s(self) -> float:
        """For how long the oldest call of the queue waits."""
        return self._writer.waited_s

    @property
    def is_lost(self) -> bool:
        """True if the journal is closed, or cannot be read any more."""
        return self._writer.is_lost

    @property
    def trouble(self) -> UnwrittenError | None:
        """Why the journal cannot be written now."""
        return self._writer.trouble

    def require_writable(self) -> None:
        """UnwrittenError where events cannot be written now, or not here: none is tried, the journal is looked at all
        the time."""
        self.controller.leadership.require_writer()
        if self._writer.trouble is not None:
            raise self._writer.trouble

    async def ask(self, call: Callable[[Controller], T], *, is_urgent: bool = False) -> T:
        """Outcome of one call, event or question, when all that it rests on is on disk.

        InputError of the controller; BusyError where too much waits, StoppingError at the end."""
        if self.is_stopping:
            raise StoppingError
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._writer.put(Command(call, future, is_urgent=is_urgent))
        result: T = await future
        return result

    async def news(self, after: int, wait_s: float) -> None:
        """Return when there are more than `after` events, or the time is over, or the service stops; BusyError where
        too many wait already."""
        if len(self._followers) >= MOST_FOLLOWERS:
            raise BusyError
        until_s = asyncio.get_running_loop().time() + wait_s
        while self.seq <= after and not self.is_stopping:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._followers.add(future)
            try:
                async with asyncio.timeout_at(until_s):
                    await future
            except TimeoutError:
                return
            finally:
                self._followers.discard(future)

    def stop_accepting(self) -> None:
        """From now on all is refused that has not been taken; who follows is answered. Called in the loop."""
        self.is_stopping = True
        self._announce()

    def _announce(self) -> None:
        for future in self._followers:
            if not future.done():
                future.set_result(None)

    def _on_group(self, group: list[Command], seq: int) -> None:
        """In the thread of the writer."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._settle, group, seq)

    def _settle(self, group: list[Command], seq: int) -> None:
        for task in group:
            task.settle()
        if seq > self.seq:
            self.seq = seq
            self._announce()
            for ticker in self._tickers:
                ticker.wake()

    def _ticked(self) -> None:
        """A control loop may have changed the controller: find out what is on disk, in the thread of the loop."""
        if self.controller.seq != self.seq and self._loop is not None and not self.is_stopping:
            self._loop.call_soon_threadsafe(self._look)

    def _look(self) -> None:
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        with suppress(StoppingError):
            self._writer.put(Command(lambda controller: None, future, is_urgent=True))
