"""Switches of the tests: many behind one address, with the traps of the node tree and faults by attribute."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Sides = tuple[str, str]


@dataclass
class StubSwitch:
    """Cross-connects by name, each with its status."""

    ports: list[str]
    rows: dict[str, Sides] = field(default_factory=dict)
    status: dict[str, str] = field(default_factory=dict)
    vocabulary: tuple[str, str] = ("oper_status", "connected")
    looks: int = 1
    """readings of a port until it is tuned"""
    dead: set[str] = field(default_factory=set)
    """ports that stay at tuning"""
    drops: list[set[str]] = field(default_factory=list)
    """names that one update after the other leaves out"""
    hangs: bool = False
    is_mute: bool = False
    """updates are done, and never answered"""
    dies: bool = False
    """it hangs from its next update on, which is done"""
    refuses: int = 0
    """requests answered with 503"""
    denies: bool = False
    loss_db: float = 1.0
    updates: list[dict[str, Any]] = field(default_factory=list)
    requests: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    """of the last request"""
    _settling: dict[str, int] = field(default_factory=dict)

    def update(self, given: dict[str, Any]) -> dict[str, Any]:
        """One transaction, deletes first: one add onto a busy port becomes invalid, several push the old ones out."""
        self.updates.append(given)
        drops = self.drops.pop(0) if self.drops else set()
        failed = [name for name in given["delete"] if name in drops or name not in self.rows]
        for name in given["delete"]:
            if name not in drops:
                self.rows.pop(name, None)
                self.status.pop(name, None)
        for add in given["add"]:
            name, sides = add["cross_connect_id"], (add["a_side"], add["b_side"])
            if name in drops or not set(sides) <= set(self.ports):
                failed.append(name)
                continue
            others = [other for other, theirs in self.rows.items() if other != name and set(theirs) & set(sides)]
            others = [other for other in others if self.status[other] == "enabled"]
            self.rows[name], self.status[name] = sides, "enabled"
            self._settling.update(dict.fromkeys(sides, self.looks))
            if others and len(given["add"]) == 1:
                self.status[name] = "invalid"
            else:
                self.status.update(dict.fromkeys(others, "invalid"))
        return {"deleted_count": len(given["delete"]), "added_count": len(given["add"]), "failed_keys": failed}

    def lit(self) -> set[str]:
        """Names of cross-connects with light."""
        return {name for name, status in self.status.items() if status == "enabled"}

    def table(self, name: str) -> dict[str, Any]:
        if name == "OCS_PORT_TABLE":
            return {"OCS_PORT_LIST": list(self._ports())}
        if name == "OCS_CROSS_CONNECT":
            rows = [{"cross_connect_id": name, "a_side": a, "b_side": b} for name, (a, b) in self.rows.items()]
        else:
            rows = [
                {"cross_connect_id": name, "status": status, "insertion_loss_dB": f"{self.loss_db:.2f}"}
                for name, status in self.status.items()
            ]
        return {"OCS_CROSS_CONNECT_LIST": rows}

    def _ports(self) -> Iterator[dict[str, Any]]:
        key, lit = self.vocabulary
        target = {p: o for n in self.lit() for p, o in (self.rows[n], self.rows[n][::-1])}
        for port in self.ports:
            is_dark = port in self.dead or self._settling.get(port, 0) > 0
            self._settling[port] = self._settling.get(port, 0) - 1
            status = "blocked" if port not in target else "tuning" if is_dark else lit
            yield {"simplex_port_id": port, key: status, "target_simplex_port_id": target.get(port, "")}


class StubServer(ThreadingHTTPServer):
    """Switch q2#1 answers under /q2-1."""

    daemon_threads, request_queue_size = True, 256

    def __init__(self, switches: dict[str, StubSwitch]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.switches, self.stopping = switches, threading.Event()
        self.locks = {name: threading.Lock() for name in switches}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Whoever asked has gone."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{{}}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._reply()

    def do_POST(self) -> None:
        self._reply()

    def _reply(self) -> None:
        assert isinstance(self.server, StubServer)
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        _, place, _, kind, name, *rest = self.path.split("/")
        switch = self.server.switches[place]
        with self.server.locks[place]:
            switch.requests += 1
            switch.headers = dict(self.headers)
            code, answer = self._answer(switch, kind, name, rest, body)
        if kind == "operations":
            switch.hangs |= switch.dies
        if switch.hangs or (switch.is_mute and kind == "operations"):
            self.close_connection = True
            self.server.stopping.wait(30)
            return
        text = json.dumps(answer).encode()
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def _answer(self, switch: StubSwitch, kind: str, name: str, rest: list[str], body: bytes) -> tuple[int, Any]:
        if switch.hangs:
            return 200, {}
        if switch.denies:
            return 401, {"ietf-restconf:errors": {"error": [{"error-message": "who are you?"}]}}
        if switch.refuses:
            switch.refuses -= 1
            return 503, {}
        if kind == "operations":
            assert name == "sonic-ocs:bulk-update"
            return 200, {"sonic-ocs:output": switch.update(json.loads(body)["sonic-ocs:input"])}
        assert name == "sonic-ocs:sonic-ocs"
        return 200, {f"sonic-ocs:{rest[0]}": switch.table(rest[0])}

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@contextmanager
def served(switches: dict[str, StubSwitch]) -> Iterator[StubServer]:
    """A server of these while it is used; names as addresses have them."""
    server = StubServer(switches)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stopping.set()
        server.shutdown()
        server.server_close()
        thread.join()
