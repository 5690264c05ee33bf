"""Switches that changed by themselves are read back: what was lost is set again, what is strange is named."""

from pathlib import Path
from typing import Any

import pytest

from planner.integrations.switch_drivers import CircuitError
from planner.integrations.switch_drivers.ocs.restconf import RestconfSwitch
from tests.planner.integrations.switch_drivers.ocs.site import Site, circuits_of, site_of
from tests.planner.integrations.switch_drivers.ocs.stub import StubSwitch


def emptied(switch: StubSwitch) -> None:
    switch.rows.clear()
    switch.status.clear()


def connected(site: Site) -> None:
    driver = site.driver()
    for job in ("j0", "j1"):
        driver.connect(job, circuits_of(site.kind, job))


def test_switches_that_are_as_they_should_are_left_alone(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus") as site:
        connected(site)
        before = [len(switch.updates) for switch in site.switches.values()]
        found = site.driver().resync()
        assert (found.again, found.failed, found.strange) == ((), {}, ())
        assert [len(switch.updates) for switch in site.switches.values()] == before


def test_a_switch_that_restarted_empty_gets_all_jobs_again(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus") as site:
        connected(site)
        emptied(site.switches["x1"])
        assert set(site.driver().resync().again) == {"j0", "j1"}
        assert site.lit() == site.wanted("j0", "j1")


def test_another_job_on_such_a_switch_brings_them_back(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus") as site:
        driver = site.driver()
        driver.connect("j0", circuits_of("torus", "j0"))
        emptied(site.switches["x1"])
        driver.connect("j1", circuits_of("torus", "j1"))
        assert site.lit() == site.wanted("j0", "j1")


def test_a_controller_that_comes_back_finds_what_was_lost(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus") as site:
        connected(site)
        emptied(site.switches["x1"])
        site.driver().connect("j0", circuits_of("torus", "j0"))
        assert site.lit() == site.wanted("j0", "j1")


def test_a_circuit_that_leads_elsewhere_is_made_anew(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus") as site:
        driver = site.driver()
        driver.connect("j0", circuits_of("torus", "j0"))
        there = site.switches["x1"]
        name, free = min(there.rows), [p for p in there.ports if not any(p in sides for sides in there.rows.values())]
        there.rows[name] = free[0], free[1]
        assert site.driver().resync().again == ("j0",)
        assert there.rows[name] == tuple(name.split("-"))
        assert site.lit() == site.wanted("j0")


def test_light_of_no_job_is_named_and_left(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus") as site:
        connected(site)
        site.switches["z3"].rows["lab"], site.switches["z3"].status["lab"] = ("90A", "90B"), "enabled"
        assert site.driver().resync().strange == ("z3 lab",)
        assert "lab" in site.switches["z3"].rows


@pytest.mark.slow
def test_what_runs_over_a_switch_that_hangs_is_told_and_left_on(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus", hasty="x1") as site:
        driver = site.driver()
        driver.connect("j0", circuits_of("torus", "j0"))
        site.switches["x1"].hangs = True
        found = site.driver().resync()
        assert found.failed.keys() == {"j0"}
        assert "x1 does not answer" in found.failed["j0"]
        site.switches["x1"].hangs = False
        assert site.lit() == site.wanted("j0")
        assert driver.applied().keys() == {"j0"}


def test_where_no_switch_tells_anything_that_is_one_error(tmp_path: Path) -> None:
    with site_of(tmp_path) as site:
        for switch in site.switches.values():
            switch.denies = True
        with pytest.raises(CircuitError, match="no switch tells what is on"):
            site.driver().resync()


def test_a_circuit_of_others_that_came_in_between_is_set_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Between the reading and the transaction, which pushes it out."""
    with site_of(tmp_path, "torus") as site:
        there, send = site.switches["x1"], RestconfSwitch.update
        name = min(site.wanted("j0")["x1"])
        guest = name.split("-")[0], next(p for p in there.ports if p.endswith("B") and p not in name)

        def update(switch: RestconfSwitch, *change: Any) -> None:
            if switch.name == "x1" and not there.updates:
                there.rows["guest"], there.status["guest"] = guest, "enabled"
            send(switch, *change)

        monkeypatch.setattr(RestconfSwitch, "update", update)
        with pytest.raises(CircuitError, match=r"x1: port .* is in use by guest") as caught:
            site.driver().connect("j0", circuits_of("torus", "j0"))
        assert caught.value.part is not None
        assert site.lit() == {"x1": {"guest"}}
        assert "a circuit of no job was pushed out of a port, and is set again" in caplog.text
