"""Sockets: TLS, and who may reach them."""

import ssl
import subprocess
import urllib.error
from pathlib import Path

import pytest

from planner.integrations.switch_emulator.server import Certificate, listen, serving
from planner.model.errors import InputError
from tests.need import need_program
from tests.planner.integrations.switch_emulator.clients import STATE, ask, emulator


@pytest.mark.slow
def test_tls_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(
        [need_program("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
         "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key,
         "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    pair = Certificate(certificate, key)
    pair.require_usable()
    with serving(emulator(), certificate=pair) as addresses:
        trusted = ssl.create_default_context(cafile=str(certificate))
        assert ask(addresses["ocs0"] + STATE, context=trusted)[0] == 200
        with pytest.raises(urllib.error.URLError):
            ask(addresses["ocs0"] + STATE)


def test_others_cannot_reach_it() -> None:
    with pytest.raises(InputError, match="no address of loopback"):
        listen(["ocs0"], "0.0.0.0")


def test_a_taken_port_leaves_nothing_open() -> None:
    first = listen(["ocs0"])
    port = first.sockets[0].getsockname()[1]
    with pytest.raises(InputError, match="take another port"):
        listen(["a", "b"], port=port)
    for each in first.sockets:
        each.close()
