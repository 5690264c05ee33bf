"""Circuits that must be on are, and no others: whatever fails, comes late, or was left behind."""

import time
from itertools import pairwise
from pathlib import Path
from threading import Event

import pytest

from planner.controller import Controller, driver_calls
from planner.controller.switch_reconciler import FIRST_DELAY_S, MOST_DELAY_S, SwitchReconciler
from planner.integrations.switch_drivers import CircuitBusyError, CircuitError, Circuits, driver_of
from tests.planner.controller.scripted_switches import Switches
from tests.planner.controller.sites import controller, request


@pytest.fixture
def site() -> Controller:
    return controller("lightpath")


def wanted(of: Controller) -> dict[str, Circuits]:
    return {name: place.circuits_json for name, place in of.running.items() if place.wiring.configurations}


def test_what_starts_is_connected_and_what_ends_released(site: Controller) -> None:
    switches = Switches()
    carrier = SwitchReconciler(site, switches)
    site.submit_all([request("a", 16), request("b", 8), request("c")])
    place = site.running["a"]
    assert carrier.connected("a", place) is False
    assert carrier.connected("c", site.running["c"]) is None, "one accelerator needs no light"
    assert carrier.connected("z", None) is None
    carrier.tick()
    assert switches.on == wanted(site)
    assert carrier.connected("a", place) is True
    site.finish("a")
    site.submit(request("d", 16))
    carrier.tick()
    assert switches.on == wanted(site)
    assert switches.calls.index(("release", "a")) < switches.calls.index(("connect", "d"))
    calls = len(switches.calls)
    carrier.tick()
    assert len(switches.calls) == calls, "nothing is to be done"


def test_a_job_that_moves_is_released_before_it_is_connected(site: Controller) -> None:
    switches = Switches()
    carrier = SwitchReconciler(site, switches)
    site.submit(request("a", 16))
    carrier.tick()
    before = site.running["a"]
    site.fail(before.device_names[0])
    assert carrier.connected("a", site.running["a"]) is False
    carrier.tick()
    assert switches.calls[-2:] == [("release", "a"), ("connect", "a")]
    assert switches.on == wanted(site)
    assert carrier.connected("a", site.running["a"]) is True


def test_a_part_that_does_not_work_has_failed_and_the_job_goes_elsewhere(site: Controller) -> None:
    switches = Switches()
    carrier = SwitchReconciler(site, switches)
    site.submit(request("a", 16))
    before = site.running["a"]
    part = before.device_names[0] + ":port"
    switches.errors = [CircuitError("no light", part)]
    carrier.tick()
    assert site.down == (part,)
    assert site.running["a"] is not before
    assert switches.on == wanted(site), "within the same tick"


def test_what_fails_for_no_known_reason_is_tried_again_ever_later(site: Controller) -> None:
    now, switches = [0.0], Switches()
    carrier = SwitchReconciler(site, switches, clock=lambda: now[0])
    site.submit_all([request("a", 16), request("b", 8)])
    failing = [CircuitError("who knows"), CircuitError("not a part", "nothing"), *[CircuitError("no")] * 20]
    tried = []
    for second in range(400):
        now[0] = second / 2
        switches.errors = [] if "b" not in switches.on else failing[:1]
        before = switches.calls.count(("connect", "a"))
        if second == 0:
            switches.errors = failing[1:2]
        carrier.tick()
        if switches.calls.count(("connect", "a")) > before:
            tried.append(now[0])
        if second == 0:
            assert switches.on == {"b": wanted(site)["b"]}
    gaps = [b - a for a, b in pairwise(tried)]
    assert gaps[0] == FIRST_DELAY_S
    assert gaps == sorted(gaps)
    assert max(gaps) == MOST_DELAY_S
    assert site.down == ()
    switches.errors = []
    now[0] += MOST_DELAY_S
    carrier.tick()
    assert switches.on == wanted(site)


def test_an_error_that_a_driver_did_not_expect_is_of_one_job_alone(site: Controller) -> None:
    class Odd(Switches):
        wrong: tuple[str, ...] = ("a",)

        def connect(self, job: str, circuits: Circuits) -> None:
            if job in self.wrong:
                raise OSError(28, "No space left on device")
            super().connect(job, circuits)

    switches, now_s = Odd(), [0.0]
    carrier = SwitchReconciler(site, switches, clock=lambda: now_s[0])
    site.submit_all([request("a", 16), request("b", 8)])
    carrier.tick()
    assert [carrier.connected(job, site.running[job]) for job in "ab"] == [False, True]
    assert carrier.troubles()["a"].said.endswith("of its own: OSError: [Errno 28] No space left on device")
    assert carrier.failures["connect"] == 1
    switches.wrong, now_s[0] = (), 1.0
    carrier.tick()
    assert carrier.connected("a", site.running["a"]) is True
    assert carrier.troubles() == {}


def test_who_waits_for_others_light_does_not_wait_longer_each_time(site: Controller) -> None:
    now, switches = [0.0], Switches()
    carrier = SwitchReconciler(site, switches, clock=lambda: now[0])
    site.submit(request("a", 16))
    for number in range(5):
        now[0] = number * FIRST_DELAY_S
        switches.errors = [CircuitBusyError("in use")]
        carrier.tick()
    assert switches.calls == [("connect", "a")] * 5


def test_what_cannot_be_released_is_tried_again_ever_later(site: Controller) -> None:
    now, switches = [0.0], Switches()
    carrier = SwitchReconciler(site, switches, clock=lambda: now[0])
    site.submit(request("a", 16))
    carrier.tick()
    site.finish("a")
    switches.is_stuck = True
    for second in range(20):
        now[0] = second / 10
        carrier.tick()
    assert switches.calls.count(("release", "a")) == 3, "at 0, 0.5 and 1.5 s"
    switches.is_stuck = False
    now[0] += MOST_DELAY_S
    carrier.tick()
    assert switches.on == {}


def test_what_an_earlier_process_left_is_put_right(site: Controller) -> None:
    """Circuits of a job that is gone, of one that lies elsewhere now, and of one whose state nobody knows."""
    switches = Switches()
    site.submit_all([request("a", 16), request("b", 8)])
    right = wanted(site)
    switches.on = {"gone": right["a"], "b": right["b"]}
    carrier = SwitchReconciler(site, switches)
    assert carrier.on() == {}
    carrier.tick()
    assert switches.on == carrier.on() == right
    assert ("connect", "b") in switches.calls, "whether it was finished is not known: connecting twice does no harm"
    assert ("release", "b") not in switches.calls


def test_circuits_that_got_lost_are_connected_again(site: Controller) -> None:
    switches = Switches()
    carrier = SwitchReconciler(site, switches)
    site.submit_all([request("a", 16), request("b", 8)])
    carrier.tick()
    del switches.on["a"]
    carrier.tick()
    assert switches.on == wanted(site)
    assert switches.calls.count(("connect", "b")) == 1
    assert carrier.connected("a", site.running["a"]) is True


def test_a_part_known_to_be_broken_is_no_news_whatever_else_happens(
    site: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    switches, fail = Switches(), site.fail
    carrier = SwitchReconciler(site, switches)
    site.fail("s3.t7:port")
    site.submit(request("a", 8))

    def fail_while_others_come(part: str) -> None:
        site.submit(request(f"j{site.seq}"))
        fail(part)

    monkeypatch.setattr(site, "fail", fail_while_others_come)
    switches.errors = [CircuitError("no light", "s3.t7:port")] * 3
    carrier.tick()
    assert switches.calls == [("connect", "a")], "it is tried again later"


def test_who_is_told_to_stop_does_so_between_jobs(site: Controller) -> None:
    class Stopping(Switches):
        def connect(self, job: str, circuits: Circuits) -> None:
            super().connect(job, circuits)
            carrier.stop()

    switches = Stopping()
    carrier = SwitchReconciler(site, switches)
    site.submit_all([request("a", 8), request("b", 8)])
    carrier.tick()
    assert switches.calls == [("connect", "a")]
    site.finish("a")
    carrier.tick()
    assert switches.calls == [("connect", "a")]


@pytest.mark.slow
def test_over_the_driver_that_ships(site: Controller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs come and go, a listed part is found broken; the file agrees at each step, also for another process. A busy
    disk may take longer than calls are waited for."""
    monkeypatch.setattr(driver_calls, "PATIENCE_S", 60.0)
    driver = driver_of({"kind": "file"}, tmp_path / "switches")
    carrier = SwitchReconciler(site, driver)
    for i in range(6):
        site.submit(request(f"j{i}", 8))
        if i >= 3:
            site.finish(f"j{i - 3}")
        carrier.tick()
        assert driver_of({"kind": "file"}, tmp_path / "switches").applied() == wanted(site)
    part = site.running["j5"].device_names[3] + ":port"
    (tmp_path / "switches" / "faults.json").write_text(f'["{part}"]')
    site.cancel("j4")
    SwitchReconciler(site, driver).tick()
    assert driver.applied() == wanted(site)
    fresh = controller("lightpath")
    fresh.submit(request("new", 32))
    SwitchReconciler(fresh, driver).tick()
    assert part in fresh.down
    assert driver.applied() == wanted(fresh)


def test_a_new_job_does_not_wait_for_the_failures_of_one_of_its_name(site: Controller) -> None:
    switches = Switches()
    carrier = SwitchReconciler(site, switches, clock=lambda: 0.0)
    site.submit(request("a", 16))
    switches.errors = [CircuitError("who knows")]
    carrier.tick()
    site.finish("a")
    carrier.tick()
    site.submit(request("a", 16))
    carrier.tick()
    assert switches.on == wanted(site)


class SlowSwitches(Switches):
    """Those of one job hang until they are let go."""

    def __init__(self, job: str) -> None:
        super().__init__()
        self._job, self.go = job, Event()

    def connect(self, job: str, circuits: Circuits) -> None:
        if job == self._job:
            assert self.go.wait(60)
        super().connect(job, circuits)


def test_a_switch_that_hangs_delays_no_other_job(site: Controller) -> None:
    """A tick does not wait for it, and what comes of it in the end is heard."""
    switches = SlowSwitches("a")
    carrier = SwitchReconciler(site, switches)
    site.submit_all([request("a", 16), request("b", 8)])
    for _ in range(3):
        began_s = time.monotonic()
        carrier.tick()
        assert time.monotonic() - began_s < 20
        assert carrier.connected("a", site.running["a"]) is False
        assert carrier.connected("b", site.running["b"]) is True
    switches.errors = [CircuitError("dark", "s0.t0:port")]
    switches.go.set()
    while "s0.t0:port" not in site.down:
        carrier.tick()
        assert time.monotonic() - began_s < 60
    assert switches.calls.count(("connect", "a")) >= 1
