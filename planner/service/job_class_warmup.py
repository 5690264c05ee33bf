"""New kinds of jobs are expanded beside the queue: the first job of a kind costs up to seconds, no other one waits."""

import asyncio
import gc
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from planner.controller import Controller, Request
from planner.model.collector import keep_for_good
from planner.service.command_queue import BusyError

MOST_WAITING = 16
"""kinds that wait to be expanded, or are; who comes with more is refused for now"""
BETWEEN_COLLECTIONS = 256
"""kinds that are listed after which garbage is looked for among all that was frozen"""
WHOLE = 4
"""kinds that are listed make as much garbage as one that is expanded"""


class JobClassWarmup:
    """Expands classes of jobs in two threads of its own."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._num_listed = 0
        """kinds since garbage was looked for, roughly: two threads count"""
        self._under_way: dict[tuple[str, bool], Future[None]] = {}
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="expansion")

    async def of(self, requests: Iterable[Request], *, is_asked: bool = False) -> None:
        """Return when all kinds of these jobs are expanded, or as far as a question needs them. InputError for a job
        that can never run; BusyError."""
        for request in requests:
            if not self._controller.is_prepared(request, is_asked=is_asked):
                await asyncio.shield(asyncio.wrap_future(self._begun(request, is_asked)))

    def _begun(self, request: Request, is_asked: bool) -> "Future[None]":
        """The expansion, which goes on when nobody waits for it any more."""
        key = request.job_class_json, is_asked
        begun = self._under_way.get(key)
        if begun is None:
            if len(self._under_way) >= MOST_WAITING:
                raise BusyError
            begun = self._under_way[key] = self._threads.submit(self._expand, request, is_asked)
            begun.add_done_callback(lambda _: self._under_way.pop(key, None))
        return begun

    def _expand(self, request: Request, is_asked: bool) -> None:
        """Expand one class. Its objects live long: garbage is not looked for in them, which would take a tenth of a
        second; but once in a while in all of them, since kinds are forgotten again."""
        self._controller.prepare(request, is_asked=is_asked)
        self._num_listed += 1 if is_asked else WHOLE
        if self._num_listed >= BETWEEN_COLLECTIONS:
            self._num_listed = 0
            gc.unfreeze()
            gc.collect()
        keep_for_good()

    def tidy(self) -> None:
        """Beside the queue, forget kinds that take too much memory."""
        with suppress(RuntimeError):  # closed: nothing is kept for long any more
            self._threads.submit(self._controller.tidy)

    def close(self) -> None:
        """Drop what has not begun."""
        self._threads.shutdown(wait=False, cancel_futures=True)
