"""What Ctrl-C does inside a block; in threads other than the first, which get no signals, nothing."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def on_interrupt(act: Callable[[], None]) -> Iterator[None]:
    """Call this whenever Ctrl-C is pressed inside the block."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, frame: FrameType | None) -> None:
        act()

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def noting_interrupts() -> Iterator[Callable[[], bool]]:
    """True if Ctrl-C was pressed inside the block, also where the KeyboardInterrupt that it raises was caught or lost:
    Python drops one that comes in the middle of a finalizer or a callback of the garbage collector."""
    noted = threading.Event()

    def note() -> None:
        noted.set()
        raise KeyboardInterrupt

    with on_interrupt(note):
        yield noted.is_set
