"""Every protocol over real sockets: circuits come and go, those of others stay, faults are found by reading back."""

import time
from contextlib import suppress
from pathlib import Path

import pytest

from planner.integrations.switch_drivers import CircuitBusyError, CircuitError
from planner.integrations.switch_emulator import FaultKind, RequestClass
from tests.planner.integrations.switch_drivers.ocs.emulated import EmulatedSite, emulated
from tests.planner.integrations.switch_drivers.ocs.site import circuits_of

PROTOCOLS = ["gnmi", "openconfig", "tl1", "scpi"]
every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)


def connected(site: EmulatedSite, *jobs: str) -> None:
    driver = site.driver()
    for job in jobs:
        driver.connect(job, circuits_of("torus", job))


def answer_again(site: EmulatedSite) -> None:
    """Wait until no switch is silent any more, as after a restart."""
    for _ in range(200):
        with suppress(CircuitError):
            if site.driver().resync().failed == {}:
                return
        time.sleep(0.05)
    raise AssertionError("a switch stays silent")


@pytest.mark.slow
@every_protocol
def test_circuits_come_and_go(tmp_path: Path, protocol: str) -> None:
    with emulated(tmp_path, protocol) as site:
        connected(site, "j0", "j1")
        assert site.lit() == site.wanted("j0", "j1")
        driver = site.driver()
        found = driver.resync()
        assert (found.again, found.failed, found.strange) == ((), {}, ())
        driver.release("j0")
        assert site.lit() == site.wanted("j1")
        driver.release("j1")
        assert (site.lit(), driver.applied()) == ({}, {})


@pytest.mark.slow
@every_protocol
def test_a_circuit_of_others_is_left_alone(tmp_path: Path, protocol: str) -> None:
    with emulated(tmp_path, protocol) as site:
        name, wanted = next(iter(site.wanted("j0").items()))
        a_side, _, b_side = min(wanted).partition("-")
        other = next(p for p in site.emulator.switches[name].ports if p.endswith("B") and p != b_side)
        guest = {"cross_connect_id": f"{a_side}-{other}", "a_side": a_side, "b_side": other}
        site.emulator.switches[name].apply((), [guest])
        driver = site.driver()
        with pytest.raises(CircuitBusyError, match=r"in use by .*, which is of no job") as refused:
            driver.connect("j0", circuits_of("torus", "j0"))
        assert refused.value.part is not None
        assert site.lit() == {name: {f"{a_side}-{other}"}}
        assert driver.resync().strange[0].startswith(f"{name} ")


@pytest.mark.slow
@every_protocol
@pytest.mark.parametrize("kind", [FaultKind.LIE, FaultKind.RESTART, FaultKind.CHANGE])
def test_what_a_switch_does_not_do_is_found_and_done_again(tmp_path: Path, protocol: str, kind: FaultKind) -> None:
    with emulated(tmp_path, protocol, settle="300 ms") as site:
        connected(site, "j0")
        for draw in site.emulator.faults.values():
            draw.plan(RequestClass.BULK, kind)
        try:
            connected(site, "j1")
        except CircuitError:
            answer_again(site)
            connected(site, "j0", "j1")
        site.driver().resync()
        assert site.lit() == site.wanted("j0", "j1")


@pytest.mark.slow
@every_protocol
def test_a_port_without_light_is_named(tmp_path: Path, protocol: str) -> None:
    with emulated(tmp_path, protocol, settle="50 ms") as site:
        name, wanted = next(iter(site.wanted("j0").items()))
        site.emulator.switches[name].hardware.stuck.add(min(wanted).partition("-")[0])
        with pytest.raises(CircuitError) as refused:
            connected(site, "j0")
        assert refused.value.part is not None
        assert site.lit() == {}


@pytest.mark.slow
@pytest.mark.parametrize(("most_db", "is_taken"), [(30.0, True), (0.5, False)])
def test_tl1_tells_losses_by_the_powers_of_ports(tmp_path: Path, most_db: float, is_taken: bool) -> None:
    with emulated(tmp_path, "tl1", loss_db=0.2, most_loss=f"{most_db} dB", settle="50 ms") as site:
        if is_taken:
            connected(site, "j0")
        else:
            with pytest.raises(CircuitError, match=r"together more than 0\.5 dB"):
                connected(site, "j0")
