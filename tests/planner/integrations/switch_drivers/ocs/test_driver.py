"""Jobs on switches that run SONiC: light for all of a job or none, whatever else the switches have."""

from pathlib import Path

import pytest

from planner.controller.switch_driver import UnsureError
from planner.integrations.switch_drivers import CircuitBusyError, CircuitError
from planner.integrations.switch_drivers.ocs.restconf import RestconfSwitch
from tests.planner.integrations.switch_drivers.ocs.site import Site, circuits_of, site_of

SHORT = "60 ms"
"""in which light is waited for that never comes"""


def first(site: Site, job: str = "j0") -> tuple[str, str]:
    """A switch of a job, and the first of its cross-connects there."""
    switch, names = min(site.wanted(job).items())
    return switch, min(names)


def row_of(name: str) -> tuple[str, str]:
    a_side, _, b_side = name.partition("-")
    return a_side, b_side


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["ocs_rail", "torus", "sipam"])
def test_jobs_have_what_their_plan_says_and_give_it_back(tmp_path: Path, kind: str) -> None:
    with site_of(tmp_path, kind) as site:
        driver = site.driver()
        for job in ("j0", "j1", "j0"):
            driver.connect(job, circuits_of(kind, job))
        assert site.lit() == site.wanted("j0", "j1")
        assert driver.applied() == {job: circuits_of(kind, job) for job in ("j0", "j1")}
        driver.release("j0")
        assert site.rows() == site.wanted("j1"), "nobody else's light is touched"
        driver.connect("j0", circuits_of(kind, "j0"))
        assert site.lit() == site.wanted("j0", "j1")
        for job in ("j0", "j1"):
            driver.release(job)
        assert site.rows() == {}
        assert driver.applied() == {}
        assert {each.requests for name, each in site.switches.items() if name not in site.wanted("j0", "j1")} <= {0}


def test_one_transaction_sets_a_job_on_a_switch(tmp_path: Path) -> None:
    with site_of(tmp_path) as site:
        site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        for name, wanted in site.wanted("j0").items():
            (update,) = site.switches[name].updates
            assert ({add["cross_connect_id"] for add in update["add"]}, update["delete"]) == (wanted, [])


def test_ports_of_the_other_vocabulary_are_read(tmp_path: Path) -> None:
    with site_of(tmp_path) as site:
        for switch in site.switches.values():
            switch.vocabulary = "state", "tuned"
        site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert site.lit() == site.wanted("j0")


def test_what_a_switch_leaves_out_is_sent_again(tmp_path: Path) -> None:
    with site_of(tmp_path) as site:
        switch, name = first(site)
        site.switches[switch].drops = [{name}]
        site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert site.lit() == site.wanted("j0")
        assert [[add["cross_connect_id"] for add in u["add"]] for u in site.switches[switch].updates][1] == [name]


def test_what_a_switch_never_does_is_told_and_nothing_stays(tmp_path: Path) -> None:
    with site_of(tmp_path) as site:
        switch, name = first(site)
        site.switches[switch].drops = [{name}] * 9
        with pytest.raises(CircuitError, match=f"^{switch}: {name} is missing$") as caught:
            site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert caught.value.part == "s0.g0:port"
        assert site.rows() == {}
        assert site.driver().applied() == {}


def test_a_port_that_never_tunes_is_named(tmp_path: Path) -> None:
    with site_of(tmp_path, settle=SHORT) as site:
        switch, name = first(site)
        port = row_of(name)[1]
        site.switches[switch].dead, site.switches[switch].looks = {port}, 0
        message = rf"{switch}: port {port} \(s\d\.g0\) of {name} reports tuning"
        with pytest.raises(CircuitError, match=message) as caught:
            site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert caught.value.part == f"s{int(port[:-1]) - 1}.g0:port"
        assert site.rows() == {}
        assert len(site.switches[switch].updates) == 3, "set, set again, put off"


def test_a_switch_without_any_light_is_the_broken_part(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus", settle=SHORT) as site:
        site.switches["y2"].dead = set(site.switches["y2"].ports)
        with pytest.raises(CircuitError, match="y2: port") as caught:
            site.driver().connect("j0", circuits_of("torus", "j0"))
        assert caught.value.part == "y2"


@pytest.mark.parametrize(("most_db", "fits"), [("1.61 dB", True), ("1.59 dB", False)])
def test_the_loss_of_a_circuit_counts_its_cables(tmp_path: Path, most_db: str, fits: bool) -> None:
    with site_of(tmp_path, loss_db=0.3, settle=SHORT, most_loss=most_db) as site:
        if fits:
            site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
            return
        message = r"loses 1 dB, its cables 0.3 and 0.3 dB: together more than 1.59 dB"
        with pytest.raises(CircuitError, match=message):
            site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert site.rows() == {}


@pytest.mark.parametrize(("status", "is_alike"), [("enabled", False), ("invalid", False), ("enabled", True)])
def test_a_circuit_of_others_stays(tmp_path: Path, status: str, is_alike: bool) -> None:
    with site_of(tmp_path) as site:
        switch, name = first(site)
        lab, key = site.switches[switch], name if is_alike else "lab"
        lab.rows[key], lab.status[key] = row_of(name) if is_alike else (row_of(name)[0], lab.ports[-1]), status
        message = rf"{switch}: port {row_of(name)[0]} \(s0\.g0\) is in use by {key} \(\S+ to \S+\), which is of no job"
        with pytest.raises(CircuitBusyError, match=message) as caught:
            site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert caught.value.part == "s0.g0:port"
        assert site.rows() == {switch: {key}}
        assert lab.status == {key: status}
        assert lab.updates == []
        del lab.rows[key], lab.status[key]
        site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert site.lit() == site.wanted("j0")


def test_a_circuit_of_others_that_comes_meanwhile_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with site_of(tmp_path) as site:
        switch, name = first(site)
        lab, update = site.switches[switch], RestconfSwitch.update

        def late(self: RestconfSwitch, *what: object) -> None:
            if self.name == switch and not lab.updates:
                lab.rows["lab"], lab.status["lab"] = row_of(name), "enabled"
            update(self, *what)  # type: ignore[arg-type]

        monkeypatch.setattr(RestconfSwitch, "update", late)
        with pytest.raises(CircuitBusyError, match="in use by lab"):
            site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert site.rows() == {switch: {"lab"}}


def test_an_invalid_circuit_of_ours_is_made_anew(tmp_path: Path) -> None:
    with site_of(tmp_path) as site:
        switch, name = first(site)
        there = site.switches[switch]
        site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        there.status[name] = "invalid"
        site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert site.lit() == site.wanted("j0")
        assert there.updates[1]["delete"] == [name]


def test_short_troubles_are_sat_out(tmp_path: Path) -> None:
    with site_of(tmp_path) as site:
        site.switches[first(site)[0]].refuses = 1
        site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert site.lit() == site.wanted("j0")


def test_a_switch_that_knows_us_not_says_so(tmp_path: Path) -> None:
    with site_of(tmp_path) as site:
        site.switches[first(site)[0]].denies = True
        with pytest.raises(CircuitError, match="answers 401: who are you") as caught:
            site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert caught.value.part is None


@pytest.mark.slow
def test_an_update_without_an_answer_is_read_back(tmp_path: Path) -> None:
    with site_of(tmp_path, hasty="q0#0") as site:
        site.switches["q0#0"].is_mute = True
        site.driver().connect("j0", circuits_of("ocs_rail", "j0"))
        assert site.lit() == site.wanted("j0")


@pytest.mark.slow
def test_a_switch_that_hangs_is_no_broken_part_and_owes_what_it_has(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus", hasty="x0") as site:
        site.driver().connect("j1", circuits_of("torus", "j1"))
        there = site.switches["x0"]
        there.dies = True
        with pytest.raises(CircuitError, match="x0 does not answer") as caught:
            site.driver().connect("j0", circuits_of("torus", "j0"))
        assert caught.value.part is None
        driver = site.driver()
        assert driver.applied().keys() == {"j1", "left at x0"}
        assert site.rows() == site.wanted("j1") | {"x0": site.wanted("j0", "j1")["x0"]}
        with pytest.raises(CircuitError, match="does not answer"):
            driver.release("left at x0")
        with pytest.raises(UnsureError, match="does not answer"):
            site.driver().connect("j1", circuits_of("torus", "j1"))
        there.dies = there.hangs = False
        driver.release("left at x0")
        assert driver.applied().keys() == {"j1"}
        assert site.lit() == site.wanted("j1")


@pytest.mark.slow
def test_what_is_owed_goes_before_what_is_set(tmp_path: Path) -> None:
    with site_of(tmp_path, "torus", hasty="x0") as site:
        driver = site.driver()
        driver.connect("j0", circuits_of("torus", "j0"))
        site.switches["x0"].hangs = True
        driver.release("j0")
        assert driver.applied() == {"left at x0": []}
        assert site.rows() == {"x0": site.wanted("j0")["x0"]}
        site.switches["x0"].hangs = False
        driver.connect("j1", circuits_of("torus", "j1"))
        assert site.lit() == site.wanted("j1")
        assert driver.applied().keys() == {"j1"}


@pytest.mark.parametrize("is_done", [True, False])
def test_whoever_dies_while_setting_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_done: bool) -> None:
    """Killed as a transaction was sent, done or not: connect and release both end as they should."""
    with site_of(tmp_path, "torus") as site:
        update = RestconfSwitch.update

        def dying(self: RestconfSwitch, *what: object) -> None:
            if is_done:
                update(self, *what)  # type: ignore[arg-type]
            raise KeyboardInterrupt

        for action in ("connect", "release"):
            with monkeypatch.context() as patched:
                patched.setattr(RestconfSwitch, "update", dying)
                with pytest.raises(KeyboardInterrupt):
                    site.driver().connect("j0", circuits_of("torus", "j0"))
            assert "j0" in site.record()["setting"]
            if action == "connect":
                site.driver().connect("j0", circuits_of("torus", "j0"))
                assert site.lit() == site.wanted("j0")
            site.driver().release("j0")
            assert site.rows() == {}


def test_circuits_of_another_cluster_are_refused(tmp_path: Path) -> None:
    with site_of(tmp_path) as site, pytest.raises(CircuitError, match=r"switches\.yaml does not fit the circuits"):
        site.driver().connect("j0", circuits_of("torus", "j0"))


@pytest.mark.parametrize("is_refused", [False, True])
def test_cross_connects_that_are_on_stay(tmp_path: Path, is_refused: bool) -> None:
    """No switch is told to delete what the job had, also where one leaves out what is new, or the job gives that
    back."""
    whole = circuits_of("ocs_rail", "j0")
    before = [{**each, "circuits": each["circuits"][: len(each["circuits"]) // 2]} for each in whole]
    with site_of(tmp_path) as site:
        driver = site.driver()
        driver.connect("j0", before)
        on, told = site.lit(), {name: len(switch.updates) for name, switch in site.switches.items()}
        assert on
        if is_refused:
            for name, switch in site.switches.items():
                switch.drops = [site.wanted("j0").get(name, set())] * 9
            with pytest.raises(CircuitError, match="is missing"):
                driver.connect("j0", whole)
            assert (site.lit(), driver.applied()) == (on, {"j0": before})
        else:
            driver.connect("j0", whole)
            assert (site.lit(), driver.applied()) == (site.wanted("j0"), {"j0": whole})
            driver.release("j0", before)
            assert (site.lit(), driver.applied()) == (on, {"j0": before})
        for name, switch in site.switches.items():
            switch.drops = []
            deleted = {row for update in switch.updates[told[name] :] for row in update["delete"]}
            assert not deleted & on.get(name, set())
        driver.release("j0")
        assert site.lit() == {}
