"""Secrets come from files, and switches are believed by their certificates alone."""

import ssl
import threading
from pathlib import Path

import pytest

from planner.integrations.switch_drivers.ocs.config import load_switches
from planner.integrations.switch_drivers.ocs.restconf import RestconfSwitch, SwitchRefusalError, SwitchSilentError
from tests.planner.integrations.certificates import certificate
from tests.planner.integrations.switch_drivers.ocs.site import circuits_of, edited, site_of
from tests.planner.integrations.switch_drivers.ocs.stub import StubServer, StubSwitch


@pytest.mark.parametrize(
    ("access", "header"),
    [
        ({"token_file": "secret"}, "Bearer hidden"),
        ({"username": "me", "password_file": "secret"}, "Basic bWU6aGlkZGVu"),
    ],
)
def test_secrets_are_read_from_files(tmp_path: Path, access: dict[str, str], header: str) -> None:
    (tmp_path / "secret").write_text("hidden\n")
    with site_of(tmp_path, "torus") as site:
        edited(site.path, lambda data: data["switches"]["*"].update(access))
        site.driver().connect("j0", circuits_of("torus", "j0"))
        assert site.switches["x0"].headers["Authorization"] == header


@pytest.mark.parametrize("secret", ["hid\0den", "geheimnisträger", "hid\nden"])
def test_a_secret_that_cannot_be_sent_is_not_told(tmp_path: Path, secret: str) -> None:
    (tmp_path / "secret").write_text("hidden\n")
    with site_of(tmp_path, "torus") as site:
        edited(site.path, lambda data: data["switches"]["*"].update({"token_file": "secret"}))
        found = RestconfSwitch(load_switches(site.path), "x0", lambda: 0)
        (tmp_path / "secret").write_text(secret)
        with pytest.raises(SwitchRefusalError) as refused:
            found.rows()
        assert not any(part in str(refused.value) for part in ("hid", "geheim"))
        found.close()


@pytest.mark.slow
def test_only_a_switch_with_a_known_certificate_is_believed(tmp_path: Path) -> None:
    known, key = certificate(tmp_path, "known")
    other, _ = certificate(tmp_path, "other")
    server = StubServer({"q0-0": StubSwitch(["1A"])})
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(known, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        with site_of(tmp_path) as site:
            url = f"https://localhost:{server.server_address[1]}/q0-0"
            for access, is_believed in (
                ({"ca_file": str(known)}, True),
                ({"ca_file": str(other)}, False),
                ({"ca_file": str(other), "verify": False}, True),
            ):
                switch_of = {"url": url, "tries": 1, **access}
                edited(site.path, lambda data, new=switch_of: data["switches"].update({"q0#0": new}))
                switch = RestconfSwitch(load_switches(site.path), "q0#0", lambda: 0)
                if is_believed:
                    assert switch.rows() == {}
                else:
                    with pytest.raises(SwitchSilentError, match="CERTIFICATE_VERIFY_FAILED"):
                        switch.rows()
                switch.close()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
