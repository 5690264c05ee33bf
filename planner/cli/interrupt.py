"""Ctrl-C once: stop with the best plan so far. Twice: quit."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from planner.cli.exits import INTERRUPTED
from planner.model.interrupts import on_interrupt


def telling_interrupts(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command; where Ctrl-C ends it before it has a plan, it says so, or how far it was, and exits with 130."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> Any:
        try:
            return command(*arguments, **options)
        except KeyboardInterrupt as stop:
            print(str(stop) or "stopped before there was anything to show", file=sys.stderr)
            return INTERRUPTED

    return run


@contextmanager
def stop_on_interrupt(kept: str = "the best plan so far") -> Iterator[Callable[[], bool]]:
    """True if Ctrl-C was pressed inside the block, which then ends with what is `kept`; the second time it ends the
    program at once."""
    asked = threading.Event()

    def stop() -> None:
        asked.set()
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        print(f"stopping with {kept}; Ctrl-C again quits", file=sys.stderr, flush=True)

    with on_interrupt(stop):
        yield asked.is_set
