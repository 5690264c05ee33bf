"""Sessions over real sockets, in the clear and over TLS."""

import socket
import ssl
from pathlib import Path

import pytest

from planner.integrations.switch_emulator import Emulator, FaultKind, RequestClass, SwitchSpec
from planner.integrations.switch_emulator.line_server import serving_lines
from planner.integrations.switch_emulator.scpi import ScpiSession
from planner.integrations.switch_emulator.server import Certificate
from planner.model.errors import InputError
from tests.planner.integrations.certificates import certificate


def test_each_switch_has_a_port_and_ends_connections_when_it_starts_again() -> None:
    emulator = Emulator([SwitchSpec("left", 8), SwitchSpec("right", 8)])
    with serving_lines(["left", "right"], lambda name: ScpiSession(emulator, name)) as addresses:
        host, _, port = addresses["right"].removeprefix("tcp://").rpartition(":")
        with socket.create_connection((host, int(port)), 5) as connection:
            connection.sendall(b"*ID")
            connection.sendall(b"N?\n:oxc:swit:conn:add (@1),(@5)\n*OPC?\n")
            with connection.makefile("rb") as lines:
                assert lines.readline() == b"photonplan,emulated 4,4,right,0\r\n"
                assert lines.readline() == b"1\r\n"
                assert [each.is_on for each in emulator.light()] == [True]
                emulator.faults["right"].plan(RequestClass.READ, FaultKind.RESTART)
                connection.sendall(b"*IDN?\n")
                assert lines.readline() == b""
        again = serving_lines(["x"], lambda name: ScpiSession(emulator, name), port=int(port))
        with pytest.raises(InputError, match="cannot be listened on"), again:
            pass


@pytest.mark.slow
def test_over_tls(tmp_path: Path) -> None:
    known, key = certificate(tmp_path, "known")
    emulator = Emulator([SwitchSpec("o", 8)])
    pair = Certificate(Path(known), Path(key))
    with serving_lines(["o"], lambda name: ScpiSession(emulator, name), certificate=pair) as addresses:
        host, _, port = addresses["o"].removeprefix("tls://").rpartition(":")
        context = ssl.create_default_context(cafile=known)
        plain = socket.create_connection((host, int(port)), 5)
        with context.wrap_socket(plain, server_hostname="localhost") as connection:
            connection.sendall(b":oxc:swit:size?\n")
            assert connection.recv(100) == b"4,4\r\n"
