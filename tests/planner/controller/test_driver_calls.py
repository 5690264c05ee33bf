"""Calls that hang: many of them keep neither their caller nor other calls."""

import threading
import time

import pytest

from planner.controller.driver_calls import Calls


@pytest.mark.slow
def test_a_hundred_calls_that_hang_delay_no_other() -> None:
    end, done = threading.Event(), threading.Event()
    calls = Calls[str]()

    def hang() -> None:
        end.wait(60)

    began_s = time.perf_counter()
    for number in range(100):
        calls.begin(f"hangs{number}", "hangs", hang)
    calls.begin("well", "well", done.set)
    assert done.wait(30)
    assert time.perf_counter() - began_s < 15
    end.set()
    heard: list[str] = []
    until_s = time.monotonic() + 30
    while len(heard) < 101 and time.monotonic() < until_s:
        heard += [tag for tag, error in calls.ended() if error is None]
    assert sorted(heard) == ["hangs"] * 100 + ["well"]
