"""A control loop goes on after an error, and ends where another controller leads."""

import pytest

from planner.model.errors import DeposedError
from planner.service.ticker import Ticker
from tests.planner.service.running import until


class Failing:
    """Fails in each tick, and is deposed at the last one."""

    period_s = 0.001

    def __init__(self) -> None:
        self.ticks = 0

    def tick(self) -> None:
        self.ticks += 1
        if self.ticks == 3:
            raise DeposedError("lease", "journal", "another leads")
        if self.ticks == 1:
            raise KeyError


def test_it_ends_where_another_leads(caplog: pytest.LogCaptureFixture) -> None:
    loop, done = Failing(), list[int]()
    ticker = Ticker(loop, lambda: done.append(loop.ticks))
    ticker.start()
    until(lambda: not ticker._thread.is_alive())
    assert (loop.ticks, done) == (3, [2])
    assert [record.levelname for record in caplog.records] == ["ERROR", "ERROR"]
    assert "Failing ends: lease: journal: another leads" in caplog.text
    ticker.stop()
