"""Ctrl-C inside a block is noted, and what it did before is put back."""

import signal
from threading import Thread

import pytest

from planner.model.interrupts import noting_interrupts, on_interrupt


def test_an_interrupt_that_is_caught_is_noted() -> None:
    before = signal.getsignal(signal.SIGINT)
    with noting_interrupts() as is_noted:
        assert not is_noted()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert is_noted()
    assert signal.getsignal(signal.SIGINT) is before


def test_what_is_asked_is_done_each_time_and_only_in_the_first_thread() -> None:
    seen = list[int]()
    with on_interrupt(lambda: seen.append(1)):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        inner = signal.getsignal(signal.SIGINT)

        def elsewhere() -> None:
            with on_interrupt(lambda: None):
                assert signal.getsignal(signal.SIGINT) is inner
                seen.append(3)

        thread = Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert seen == [1, 1, 3]
