"""`planner switch-emulator`: as a process, and what it refuses before anything runs."""

import json
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from pygnmi.client import gNMIclient

from planner.cli import main

START = "import sys; from planner.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.slow
def test_it_prints_addresses_answers_and_stops() -> None:
    argv = [
        sys.executable,
        "-c",
        START,
        "switch-emulator",
        "--switches",
        "left,right",
        "--ports",
        "8",
        "--gnmi-port",
        "0",
        "--scpi-port",
        "0",
        "--tl1-port",
        "0",
        "--json",
    ]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        lines = ""
        while not lines.endswith("}\n"):
            lines += process.stdout.readline()
        addresses = json.loads(lines)
        assert list(addresses) == [
            "left", "right", "referee", "gnmi", "left tl1", "right tl1", "left scpi", "right scpi",
        ]  # fmt: skip
        path = "/data/sonic-ocs:sonic-ocs/OCS_PORT/OCS_PORT_LIST=4B"
        with urllib.request.urlopen(addresses["right"] + path, timeout=10) as answer:
            (row,) = json.loads(answer.read())["sonic-ocs:OCS_PORT_LIST"]
        assert row == {"simplex_port_id": "4B", "label": "right-4B", "config_status": "normal"}
        host, _, port = addresses["gnmi"].rpartition(":")
        with gNMIclient(target=(host, int(port)), insecure=True, skip_verify=True) as client:
            assert client.capabilities()["gnmi_version"] == "0.8.0"
        for protocol, sent, said in (("scpi", b"*IDN?\n", b",right,0"), ("tl1", b"RTRV-CRS:::7;", b"M  7 DENY")):
            host, _, port = addresses[f"right {protocol}"].removeprefix("tcp://").rpartition(":")
            with socket.create_connection((host, int(port)), 10) as connection:
                connection.sendall(sent)
                assert said in connection.recv(1000)
    finally:
        process.send_signal(signal.SIGINT)
        process.stdout.close()
        process.wait(timeout=20)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--switches", "0"], "from 1 to"),
        (["--ports", "7"], "even number"),
        (["--fault", "melt=1"], "write it as bulk:half=0.05"),
        (["--settling", "3 parsecs"], "unknown unit"),
        (["--host", "0.0.0.0"], "loopback"),
        (["--user", "admin"], "--user and --password-file together"),
        (["--key", "key.pem"], "give it too"),
        (["--certificate", "nowhere.pem"], "no certificate"),
        (["--gnmi-port", "0", "--certificate", "nowhere.pem"], "no certificate"),
        (["--vocabulary", "colour"], "--vocabulary"),
    ],
)
def test_bad_input_is_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["switch-emulator", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
