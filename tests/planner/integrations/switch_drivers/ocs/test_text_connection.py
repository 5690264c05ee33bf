"""Text over TCP and TLS: certificates, time, and connections that end."""

import socket
from pathlib import Path

import pytest

from planner.integrations.switch_drivers.ocs.switch import SwitchSilentError
from planner.integrations.switch_emulator import Emulator, SwitchSpec
from planner.integrations.switch_emulator.line_server import serving_lines
from planner.integrations.switch_emulator.scpi import ScpiSession
from planner.integrations.switch_emulator.server import Certificate
from tests.planner.integrations.certificates import certificate
from tests.planner.integrations.switch_drivers.ocs.polatis import answering, switch


@pytest.mark.slow
def test_only_a_switch_with_a_known_certificate_is_believed(tmp_path: Path) -> None:
    (known, key), (other, _) = certificate(tmp_path, "known"), certificate(tmp_path, "other")
    emulator = Emulator([SwitchSpec("x0", 8)])
    with serving_lines(["x0"], lambda name: ScpiSession(emulator, name), certificate=Certificate(known, key)) as given:
        url = given["x0"].replace("127.0.0.1", "localhost")
        for access, is_believed in (
            ({"ca_file": str(known)}, True),
            ({"ca_file": str(other)}, False),
            ({"ca_file": str(other), "verify": False}, True),
        ):
            found = switch(tmp_path, url, **access)
            if is_believed:
                assert found.rows() == {}
            else:
                with pytest.raises(SwitchSilentError, match="CERTIFICATE_VERIFY_FAILED"):
                    found.rows()
            found.close()


def test_a_switch_that_says_nothing(tmp_path: Path) -> None:
    with answering() as url:
        found = switch(tmp_path, url, timeout="20 ms")
        with pytest.raises(SwitchSilentError, match="timed out"):
            found.rows()
        found.close()


def test_nobody_there(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
    with pytest.raises(SwitchSilentError, match="does not answer"):
        switch(tmp_path, url).rows()
