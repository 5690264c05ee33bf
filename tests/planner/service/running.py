"""Services for tests: in this process behind a real socket, or as processes of their own."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from planner.controller import Controller
from planner.controller.switch_reconciler import SwitchReconciler
from planner.service.app import create_app
from planner.service.lease_keeper import LeaseKeeper
from planner.service.options import Options
from planner.service.server import configuration
from planner.service.service import Service
from planner.service.ticker import ControlLoop
from tests.paths import ROOT
from tests.planner.controller.sites import controller as small_controller
from tests.planner.controller.sites import request

MOST_S = 240.0
"""until what must come has come, on a slow machine that does much else"""
TOKEN = "correct-horse-battery-staple"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
START = "import sys; from planner.cli import main; sys.exit(main(sys.argv[1:]))"


def job(name: str, accelerators: Any = 1, **changes: Any) -> dict[str, Any]:
    """The body of a submission."""
    body: dict[str, Any] = request(name, accelerators, **changes).model_dump(
        mode="json", by_alias=True, exclude_unset=True
    )
    return body


@dataclass
class Running:
    """A service and a client that knows its token."""

    service: Service
    client: httpx.Client

    @property
    def controller(self) -> Controller:
        return self.service.controller

    def submit(self, name: str, accelerators: Any = 1, **changes: Any) -> dict[str, Any]:
        response = self.client.post("/v1/jobs", json=job(name, accelerators, **changes))
        assert response.status_code == 200, response.text
        body: dict[str, Any] = response.json()
        return body

    def get(self, path: str, **query: Any) -> Any:
        response = self.client.get(path, params=query)
        assert response.status_code == 200, response.text
        return response.json()


@contextmanager
def running(
    controller: Controller | None = None,
    *,
    control_loops: Sequence[ControlLoop] = (),
    carrier: SwitchReconciler | None = None,
    keeper: LeaseKeeper | None = None,
    **options: Any,
) -> Iterator[Running]:
    """A service in a thread, by default over a small cluster with light between servers."""
    given = Options(TOKEN.encode(), **({"rate_per_s": 0, "most_wait_s": MOST_S} | options))
    controller = controller or small_controller("lightpath")
    service = Service(
        controller,
        most_queued=given.most_queued,
        most_wait_s=given.most_wait_s,
        control_loops=control_loops,
        carrier=carrier,
        keeper=keeper,
    )
    server = uvicorn.Server(configuration(create_app(service, given), given))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            until(lambda: server.started)
            url = f"http://127.0.0.1:{listening.getsockname()[1]}"
            with httpx.Client(base_url=url, verify=False, headers=BEARER, timeout=MOST_S) as client:
                yield Running(service, client)
        finally:
            server.should_exit = True
            thread.join()


def until(is_so: Any, most_s: float = MOST_S) -> None:
    """Wait until something holds."""
    end_s = time.monotonic() + most_s
    while not is_so():
        assert time.monotonic() < end_s, "it has not come to be so"
        time.sleep(0.01)


@dataclass
class Process:
    """`planner serve` in a process of its own."""

    process: "subprocess.Popen[bytes]"
    log: Path
    url: str

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def command(folder: Path, *arguments: str) -> list[str]:
    token = folder / "token"
    if not token.exists():
        token.write_text(TOKEN)
        token.chmod(0o600)
    return [sys.executable, "-c", START, "serve", *arguments, "--token-file", str(token)]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[Process]:
    """A service on a free port, its journal in a folder; killed at the end if it still runs."""
    log = folder / f"log{time.monotonic_ns()}"
    with log.open("wb") as stream:
        fixed = ("--journal", str(folder / "planner.db"), "--port", "0", "--queue-time", str(MOST_S))
        process = subprocess.Popen(command(folder, *arguments, *fixed), stderr=stream, env=environment())
    found = Process(process, log, "")
    try:
        until(lambda: process.poll() is not None or '"listening"' in log.read_text())
        assert process.poll() is None, log.read_text()
        port = next(line["port"] for line in found.lines() if line["message"] == "listening")
        found.url = f"http://127.0.0.1:{port}"
        yield found
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
