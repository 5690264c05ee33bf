"""Time goes on whatever the machine's clock says."""

from pathlib import Path

import pytest

from planner.controller import Controller, Settings
from planner.controller import clock as clock_module
from planner.controller.clock import MOST_GAP_S, Clock
from tests.planner.controller.sites import request
from tests.planner.simulate.grounds import cluster

T0, CENTURY_S = 1.7e9, 100 * 365 * 86400.0


class Machine:
    """A machine whose clock may be wrong by some seconds."""

    def __init__(self) -> None:
        self.passed_s, self.wrong_s = 0.0, 0.0

    def wall(self) -> float:
        return T0 + self.passed_s + self.wrong_s

    def steady(self) -> float:
        return 50.0 + self.passed_s

    def clock(self, last_s: float = 0.0) -> Clock:
        clock = Clock(self.wall, self.steady)
        clock.start(last_s)
        return clock


@pytest.mark.parametrize("wrong_s", [CENTURY_S, 3600.0, -3600.0, -CENTURY_S])
def test_one_wrong_reading_moves_nothing(wrong_s: float) -> None:
    machine = Machine()
    clock = machine.clock()
    now_s = clock.read(0.0)
    for second in range(1, 61):
        machine.passed_s, machine.wrong_s = float(second), wrong_s if second == 30 else 0.0
        now_s, before_s = clock.read(now_s), now_s
        assert 0.89 <= now_s - before_s <= 1.11
    assert now_s == pytest.approx(T0 + 60, abs=1e-3)


@pytest.mark.parametrize("wrong_s", [CENTURY_S, 300.0, -300.0])
def test_a_clock_that_stays_wrong_is_followed_slowly(wrong_s: float) -> None:
    machine = Machine()
    clock = machine.clock()
    machine.passed_s, machine.wrong_s = 1000.0, wrong_s
    assert clock.read(T0) == pytest.approx(T0 + 1000 + max(-100, min(100, wrong_s)))


@pytest.mark.parametrize("wrong_s", [CENTURY_S, MOST_GAP_S + 1, -7200.0])
def test_a_wrong_clock_at_the_start_is_told_and_durations_are_right(
    wrong_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    machine = Machine()
    machine.wrong_s = wrong_s
    with caplog.at_level("WARNING", "planner"):
        clock = machine.clock(last_s=T0)
    assert "--set-clock" in caplog.text
    machine.passed_s = 600.0
    assert 0.89 * 600 <= clock.read(T0) - T0 <= 1.11 * 600


def test_a_service_that_was_off_for_days_knows_it() -> None:
    machine = Machine()
    machine.passed_s = 5 * 86400.0
    assert machine.clock(last_s=T0).read(T0) == T0 + 5 * 86400


def test_a_journal_of_the_future_is_put_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was begun by a clock that was a century ahead: jobs age, and all times move when the operator says so."""
    machine = Machine()
    monkeypatch.setattr(clock_module.time, "time", machine.wall)
    monkeypatch.setattr(clock_module, "Clock", Clock)
    monkeypatch.setattr("planner.controller.durable.Clock", lambda: Clock(machine.wall, machine.steady))
    path, rules = tmp_path / "journal.db", Settings(greedy_budget_s=60, repair_budget_s=0)
    machine.wrong_s = CENTURY_S
    with Controller(cluster("lightpath"), path, rules) as controller:
        controller.submit(request("a", 2))
    machine.wrong_s, machine.passed_s = 0.0, 1000.0
    with Controller(journal=path) as controller:
        machine.passed_s = 2000.0
        controller.submit(request("b", 2))
        before = controller.state()["uses"]["default"]["used"]
        a, b = (controller.job(name) for name in "ab")
        assert b.arrived_s - a.arrived_s == pytest.approx(1000 * 0.9)
        controller.set_clock()
        a, b = (controller.job(name) for name in "ab")
        assert controller.state()["now_s"] == T0 + 2000
        assert (b.arrived_s, b.started_s) == (T0 + 2000, T0 + 2000)
        assert b.arrived_s - a.arrived_s == pytest.approx(1000 * 0.9)
        assert controller.state()["uses"]["default"]["used"] == pytest.approx(before)
        machine.passed_s = 2100.0
        controller.submit(request("c", 2))
        assert controller.job("c").arrived_s == pytest.approx(T0 + 2100)
        state = controller.state()
    with Controller(journal=path) as again:
        assert again.state() == state
