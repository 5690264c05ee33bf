"""switches.yaml names what is missing, keeps secrets in files, and believes switches by their certificates alone."""

from pathlib import Path
from typing import Any

import pytest

from planner.cli import main
from planner.integrations.switch_drivers import driver_of
from planner.integrations.switch_drivers.ocs.config import OcsConfig, SwitchAccess, load_switches
from planner.integrations.switch_drivers.ocs.driver import OcsDriver
from planner.model.errors import InputError
from tests.planner.integrations.switch_drivers.ocs.site import circuits_of, edited, site_of


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"url": "ocs.example"}, "is no address"),
        ({"url": "https://a?b"}, "is no address"),
        ({"url": "https://me:hidden@h ost"}, "url: credentials stand in files alone; leave them out"),
        ({"url": "https://[::1"}, "has a host or a port that no address has"),
        ({"url": "https://h:abc"}, "has a host or a port that no address has"),
        ({"protocol": "scpi", "url": "tcp://h:99999"}, "has a host or a port that no address has"),
        ({"protocol": "scpi", "url": "tcp://h:0"}, "has a host or a port that no address has"),
        ({"protocol": "scpi", "url": f"tcp://{'a' * 64}:1"}, "has a host or a port that no address has"),
        ({"token_file": "lines"}, "lines cannot be read: it has several lines; leave the one that is the secret"),
        ({"username": "u"}, "goes with password_file"),
        ({"username": "u", "password_file": "p", "token_file": "t"}, "give one of the two"),
        ({"key_file": "k"}, "is of no certificate"),
        ({"token_file": "nowhere"}, "nowhere cannot be read"),
        ({"token_file": "empty"}, "is empty"),
        ({"ca_file": "cluster.yaml"}, "certificates of q0#0 cannot be used"),
        ({"password": "secret"}, "password"),
        ({"protocol": "morse"}, "protocol"),
        ({"protocol": "tl1", "url": "http://a:1"}, "write tls://HOST:PORT"),
        ({"protocol": "scpi", "url": "tcp://a"}, "write tls://HOST:PORT"),
        ({"protocol": "gnmi", "url": "https://a:1/b"}, "write https://HOST:PORT"),
        ({"protocol": "tl1", "url": "tcp://a:1"}, "TL1 begins with a login"),
        ({"protocol": "scpi", "url": "tcp://a:1", "token_file": "t"}, "SCPI has no login"),
        ({"target": "a"}, "is of gNMI, not of restconf"),
        ({"url": "https://one:8443"}, r"q0#0 and q0#1 have one address, https://one:8443; write \{\} for the name"),
        ({"protocol": "gnmi", "url": "https://a:1", "verify": False}, "give ca_file"),
        ({"protocol": "scpi", "url": "tcp://a:1"}, "'1A' is no port for scpi; write a number"),
    ],
)
def test_wrong_access_is_named(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "lines").write_text("old\nnew\n")
    with site_of(tmp_path) as site:
        edited(site.path, lambda data: data["switches"]["*"].update(change))
        with pytest.raises(InputError, match=said) as refused:
            load_switches(site.path)
    assert "hidden" not in str(refused.value)


def test_a_switch_without_an_address_is_named(tmp_path: Path) -> None:
    with site_of(tmp_path, hasty="q0#*") as site:
        edited(site.path, lambda data: data["switches"].pop("*"))
        with pytest.raises(InputError, match="says nothing of q1#0; add it, or a pattern"):
            load_switches(site.path)


def test_a_name_goes_before_a_pattern(tmp_path: Path) -> None:
    with site_of(tmp_path) as site:
        edited(site.path, lambda data: data["switches"].update({"q3#2": {"url": "http://other/"}}))
        found = load_switches(site.path)
        assert found.url("q3#2") == "http://other"
        assert found.url("q3#1").endswith("/q3-1")


def test_a_wiring_that_does_not_fit_is_named(tmp_path: Path) -> None:
    with site_of(tmp_path) as site:
        wiring = tmp_path / "wiring.csv"
        wiring.write_text(wiring.read_text().replace("q0#0,2A,", "q0#0,1A,"))
        with pytest.raises(InputError, match=r"port 1A of q0#0 leads to .*`planner wiring check`"):
            load_switches(site.path)


def test_fields_have_no_secrets_inline() -> None:
    fields = OcsConfig.model_json_schema()["$defs"]["SwitchAccess"]["properties"]
    assert not {"password", "token"} & fields.keys()


def test_the_command_line_takes_the_driver(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    journal = str(tmp_path / "p.db")
    with site_of(tmp_path, "torus") as site:
        driver = driver_of({"kind": "ocs", "config": str(site.path)}, tmp_path / "p.db.circuits")
        assert isinstance(driver, OcsDriver)
        site.drivers.append(driver)
        driver.connect("j0", circuits_of("torus", "j0"))
        site.switches["x0"].rows.clear()
        site.switches["x0"].status.clear()
        assert main(["resync", "--driver", f"ocs:{site.path}", "--journal", journal]) == 0
        assert "j0: its circuits were lost, and are on again" in capsys.readouterr().out
        assert site.lit() == site.wanted("j0")
    assert main(["resync", "--driver", "ocs:nowhere.yaml", "--journal", journal]) == 2
    assert "nowhere.yaml" in capsys.readouterr().err


@pytest.mark.parametrize("root", ["", "/", "/restconf", "/restconf/"])
def test_an_address_is_taken_as_the_emulator_prints_it(root: str) -> None:
    access = SwitchAccess.model_validate({"url": f"http://127.0.0.1:8700/ocs0{root}"})
    assert access.url == "http://127.0.0.1:8700/ocs0"


def test_the_root_of_restconf_may_stand_in_an_address() -> None:
    assert SwitchAccess(url="http://127.0.0.1:8700/restconf").url == "http://127.0.0.1:8700"
    assert SwitchAccess(url="https://restconf").url == "https://restconf"
