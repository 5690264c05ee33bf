"""Calls of a driver that may hang: each is waited for a moment, then goes on beside all others."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Generic, TypeVar

PATIENCE_S, SHORT_PATIENCE_S = 0.2, 0.02
"""for one call: a switch that is well is set meanwhile, so that calls follow each other as they were begun; the short
one while an earlier call hangs, so that many of them do not add up"""
MOST_AT_ONCE = 256
T = TypeVar("T")


class Calls(Generic[T]):
    """At most one call for each name at a time; `T` says what a call was for."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="switch")
        self._begun: dict[str, tuple[T, Future[None]]] = {}

    def begin(self, name: str, tag: T, call: Callable[[], None]) -> None:
        """Call, unless one for this name has not been heard of yet, and wait for a moment."""
        if name not in self._begun:
            does_hang = any(not future.done() for _, future in self._begun.values())
            self._begun[name] = tag, self._pool.submit(call)
            wait([self._begun[name][1]], SHORT_PATIENCE_S if does_hang else PATIENCE_S)

    def ended(self) -> list[tuple[T, BaseException | None]]:
        """Calls that have ended since this was asked, in the order in which they were begun, each with its error."""
        over = [name for name, (_, future) in self._begun.items() if future.done()]
        pairs = [self._begun.pop(name) for name in over]
        return [(tag, future.exception()) for tag, future in pairs]
