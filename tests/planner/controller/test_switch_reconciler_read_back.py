"""Switches are read back while jobs run, and what changed by itself is told and set again."""

import pytest

from planner.controller import Controller
from planner.controller.switch_driver import OnJob
from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.switch_drivers import CircuitError, Resynced
from tests.planner.controller.scripted_switches import Switches
from tests.planner.controller.sites import controller, request


@pytest.fixture
def site() -> Controller:
    return controller("lightpath")


class Read(Switches):
    """Switches whose reading says what it is told to."""

    found = Resynced((), {}, ())

    def resync(self, begins: OnJob = print) -> Resynced:
        self.calls.append(("read back", ""))
        return self.found


def test_switches_are_read_back_and_what_changed_is_told_and_connected(
    site: Controller, caplog: pytest.LogCaptureFixture
) -> None:
    switches, now_s = Read(), [0.0]
    carrier = SwitchReconciler(site, switches, read_back_s=60.0, clock=lambda: now_s[0])
    site.submit_all([request("a", 16), request("b", 8)])
    carrier.tick()
    assert ("read back", "") not in switches.calls
    now_s[0], switches.found = 61.0, Resynced(("b",), {"a": "no light"}, ("q0 1A-1B",))
    carrier.tick()
    assert switches.calls.count(("connect", "a")) == 2, "its port may be broken: that is found out by connecting it"
    assert switches.calls.count(("connect", "b")) == 1
    told = [record.getMessage() for record in caplog.records]
    assert "circuits had changed by themselves, and are on again" in told
    assert "circuits had changed by themselves" in told
    assert "light is on for no job" in told
    carrier.tick()
    assert switches.calls.count(("read back", "")) == 1
    now_s[0] = 122.0
    carrier.tick()
    assert switches.calls.count(("read back", "")) == 2
    assert [record.getMessage() for record in caplog.records].count("light is on for no job") == 1


def test_light_that_is_put_on_again_is_not_on_meanwhile(site: Controller) -> None:
    class Turning(Switches):
        meanwhile: list[bool | None]

        def resync(self, begins: OnJob = print) -> Resynced:
            self.meanwhile = [carrier.connected(job, site.running[job]) for job in "ab"]
            begins("a")
            self.meanwhile += [carrier.connected(job, site.running[job]) for job in "ab"]
            return Resynced(("a",), {}, ())

    switches, now_s = Turning(), [0.0]
    carrier = SwitchReconciler(site, switches, read_back_s=1.0, clock=lambda: now_s[0])
    site.submit_all([request("a", 16), request("b", 8)])
    carrier.tick()
    now_s[0] = 2.0
    carrier.tick()
    assert switches.meanwhile == [True, True, False, True]
    assert carrier.connected("a", site.running["a"]) is True


def test_switches_that_cannot_be_read_back_stop_nothing(site: Controller, caplog: pytest.LogCaptureFixture) -> None:
    class Mute(Switches):
        def resync(self, begins: OnJob = print) -> Resynced:
            raise CircuitError("it cannot tell")

    switches, now_s = Mute(), [0.0]
    carrier = SwitchReconciler(site, switches, read_back_s=1.0, clock=lambda: now_s[0])
    now_s[0] = 2.0
    site.submit(request("a", 16))
    carrier.tick()
    assert carrier.connected("a", site.running["a"]) is True
    assert "switches cannot be read back" in [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), CircuitError("it cannot tell")])
def test_light_whose_reading_broke_off_is_not_on_until_it_is_connected(site: Controller, error: Exception) -> None:
    class Broken(Switches):
        def resync(self, begins: OnJob = print) -> Resynced:
            begins("a")
            raise error

    switches, now_s = Broken(), [0.0]
    carrier = SwitchReconciler(site, switches, read_back_s=10.0, clock=lambda: now_s[0])
    site.submit_all([request("a", 16), request("b", 8)])
    carrier.tick()
    now_s[0] = 11.0
    carrier.tick()
    assert carrier.connected("a", site.running["a"]) is True
    assert [switches.calls.count(("connect", job)) for job in "ab"] == [2, 1]
