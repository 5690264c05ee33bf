"""Throughput and latency of the service: `python -m tests.benchmarks.bench_serve --seconds 10 --rate 600`.

`planner serve` runs in a process of its own, on a core of its own where there are two, its journal on disk; this one is
the client. Requests are sent at their times whether or not earlier ones are answered (as long as one of the connections
is free), and latency counts from the time at which a request was due. Half are submissions, half end or cancel the job.
Four stretches, each printed when it ends: a route that does nothing and then jobs, both at `--rate`; jobs at
`--overload` times as much, and at `--rate` again. Times depend on the machine and its other work; beside them stand
those inside the server, from the first byte that it has read, and its processor time. `--addresses 50` lets as many
clients come, so that none is refused for coming too often.
"""

import argparse
import asyncio
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
CLUSTER = ROOT / "instances" / "replay" / "lightpath256.yaml"
START = "import sys; from planner.cli import main; sys.exit(main(sys.argv[1:]))"
WORKLOAD = {
    "kind": "transformer_training", "model": "bert-large", "global_batch": 96, "sequence": 512, "micro_batch": 1,
}  # fmt: skip
SIZES = (1, 1, 2, 2, 4, 8)
IDLE_S = 2.0
"""after which a connection is not asked any more"""
MOST_LIVE = 16
"""jobs that run: then the oldest ends; a third of the accelerators is taken, so that every job starts at once"""


@dataclass
class Stretch:
    """Requests of one rate."""

    due: int
    latencies_s: dict[int, list[float]] = field(default_factory=dict)
    """by status"""
    began_s: float = 0.0
    """on the clock of the log"""
    wall_s: float = 0.0
    cpu_s: float = 0.0
    """of the server"""

    def inside(self, log: Sequence[dict[str, Any]]) -> str:
        """What the server says of requests that it answered 200 meanwhile."""
        took_s = [
            told["took_s"]
            for told in log
            if told["message"] == "request" and told["status"] == 200
            and 0 <= datetime.fromisoformat(told["time"]).timestamp() - self.began_s <= self.wall_s
        ]  # fmt: skip
        p50, p99 = (1e3 * float(np.quantile(took_s or [0.0], q)) for q in (0.5, 0.99))
        return f"{'':9s} inside the server: p50 {p50:.1f} ms, p99 {p99:.1f} ms"

    def line(self, name: str) -> str:
        counts = Counter({status: len(each) for status, each in self.latencies_s.items()})
        done = self.latencies_s.get(200, [0.0])
        p50, p99, most = (1e3 * float(np.quantile(done, q)) for q in (0.5, 0.99, 1.0))
        total = counts.total()
        return (
            f"{name:9s} {total / self.wall_s:7.0f} requests/s, {len(done) / self.wall_s:6.0f} answered 200/s: "
            f"p50 {p50:.1f} ms, p99 {p99:.1f} ms, longest {most:.1f} ms; server {1e6 * self.cpu_s / total:.0f} us of "
            f"processor each; {dict(counts)}"
        )


class Connection(asyncio.Protocol):
    """One connection that is kept open: one request at a time."""

    def __init__(self) -> None:
        self._buffer = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._asked_s = time.perf_counter()
        self.is_open = True

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_result((0, b""))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, rest = self._buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0] or 0)
        if len(rest) >= length and self._answer is not None:
            self._buffer = rest[length:]
            self._answer.set_result((int(head[9:12]), rest[:length]))

    @property
    def is_fresh(self) -> bool:
        """Whether it may be asked: the service closes those that are idle for some seconds."""
        return self.is_open and time.perf_counter() - self._asked_s < IDLE_S

    def close(self) -> None:
        self._transport.close()

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """Status and body; 0 where the connection is closed before the answer."""
        if not self.is_open:
            return 0, b""
        self._asked_s = time.perf_counter()
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer


class Client:
    """Jobs that come and go."""

    def __init__(self, port: int, token: str, addresses: int) -> None:
        self._port, self._head = port, f"Host: x\r\nAuthorization: Bearer {token}\r\n"
        self._addresses = cycle(f"127.0.0.{number}" for number in range(1, addresses + 1))
        self._random = Random(1)
        self._live: deque[tuple[str, bool]] = deque()
        self._number = 0

    def _request(self, method: str, path: str, body: str = "") -> bytes:
        kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n" if body else "Content-Length: 0\r\n"
        return f"{method} {path} HTTP/1.1\r\n{self._head}{kind}\r\n{body}".encode()

    async def _connected(self) -> Connection:
        """A new connection, from the next address."""
        loop, here = asyncio.get_running_loop(), (next(self._addresses), 0)
        return (await loop.create_connection(Connection, "127.0.0.1", self._port, local_addr=here))[1]

    async def empty(self, connection: Connection) -> int:
        """Ask what costs the service nothing but to answer."""
        return (await connection.ask(self._request("GET", "/healthz")))[0]

    async def one(self, connection: Connection) -> int:
        """Submit a job, or let the oldest one go."""
        if len(self._live) >= MOST_LIVE:
            name, runs = self._live.popleft()
            path = ("POST", f"/v1/jobs/{name}/finish") if runs else ("DELETE", f"/v1/jobs/{name}")
            status, _ = await connection.ask(self._request(*path))
            if status != 200:
                self._live.append((name, runs))
            return status
        self._number += 1
        name = f"j{self._number}"
        body = {"name": name, "workload": WORKLOAD, "accelerators": self._random.choice(SIZES)}
        status, answer = await connection.ask(self._request("POST", "/v1/jobs", json.dumps(body)))
        if status == 200:
            decisions = json.loads(answer)["decisions"]
            self._live.append((name, any(d["d"] == "start" and d["job"] == name for d in decisions)))
        return status

    async def settle(self) -> None:
        """End what an overload has left running or waiting."""
        connection = await self._connected()
        while len(self._live) >= MOST_LIVE:
            await self.one(connection)
        connection.close()

    async def stretch(
        self, rate_per_s: float, seconds: float, pid: int, connections: int, *, is_empty: bool = False
    ) -> Stretch:
        found = Stretch(int(rate_per_s * seconds), began_s=time.time())
        free = asyncio.LifoQueue[Connection]()
        for _ in range(connections):
            free.put_nowait(await self._connected())
        before_s, began_s = cpu_s(pid), time.perf_counter()

        async def send(connection: Connection, due_s: float) -> None:
            if not connection.is_fresh:
                connection.close()
                connection = await self._connected()
            status = await (self.empty if is_empty else self.one)(connection)
            found.latencies_s.setdefault(status, []).append(time.perf_counter() - due_s)
            free.put_nowait(connection)

        async with asyncio.TaskGroup() as group:
            for i in range(found.due):
                due_s = began_s + i / rate_per_s
                if (ahead_s := due_s - time.perf_counter()) > 0:
                    await asyncio.sleep(ahead_s)
                connection = await free.get()
                group.create_task(send(connection, due_s if rate_per_s < 2000 else time.perf_counter()))
        found.wall_s, found.cpu_s = time.perf_counter() - began_s, cpu_s(pid) - before_s
        while not free.empty():
            free.get_nowait().close()
        return found


def cpu_s(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(folder: Path, *options: str, cluster: Path = CLUSTER) -> tuple[subprocess.Popen[bytes], int]:
    """A service and its port."""
    (folder / "token").write_text(secrets.token_urlsafe(32))
    (folder / "token").chmod(0o600)
    arguments = ["serve", str(cluster), "--journal", str(folder / "planner.db"), "--token-file", str(folder / "token")]
    with (folder / "log").open("wb") as log:
        command = [sys.executable, "-c", START, *arguments, "--port", "0", *options]
        process = subprocess.Popen(command, stderr=log, cwd=ROOT)
    while process.poll() is None:
        for line in (folder / "log").read_text().splitlines():
            if (told := json.loads(line)).get("message") == "listening":
                return process, told["port"]
        time.sleep(0.05)
    raise SystemExit((folder / "log").read_text())


def disk(folder: Path, writes: int = 200) -> str:
    """How long one write of 4 KiB takes to reach the disk, without any service."""
    took_s = []
    with (folder / "probe").open("wb", buffering=0) as file:
        for _ in range(writes):
            began_s = time.perf_counter()
            file.write(bytes(4096))
            os.fsync(file.fileno())
            took_s.append(time.perf_counter() - began_s)
    p50, p99 = (1e3 * float(np.quantile(took_s, q)) for q in (0.5, 0.99))
    return f"disk      one write: p50 {p50:.1f} ms, p99 {p99:.1f} ms"


async def run(
    client: Client, pid: int, asked: argparse.Namespace, told: Callable[[str, Stretch], None]
) -> list[Stretch]:
    """All kinds are expanded first; then the stretches, each told when it ends."""
    await client.stretch(20, 3, pid, 1)
    plan = [("empty", asked.rate, asked.seconds, 32), ("normal", asked.rate, asked.seconds, 32)]
    if asked.overload:
        plan.append(("overload", asked.overload * asked.rate, asked.seconds / 2, 400))
        plan.append(("recovered", asked.rate, asked.seconds, 32))
    found = []
    for name, rate_per_s, seconds, connections in plan:
        if name == "recovered":
            await client.settle()
        found.append(await client.stretch(rate_per_s, seconds, pid, connections, is_empty=name == "empty"))
        told(name, found[-1])
    return found


def pin(pid: int) -> None:
    """The service on one core, this client on another, where there are two."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        for task in Path(f"/proc/{pid}/task").iterdir():
            os.sched_setaffinity(int(task.name), cores[:1])
        os.sched_setaffinity(0, cores[1:2])


def main(given: Sequence[str] | None = None) -> list[Stretch]:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rate", type=float, default=600.0)
    parser.add_argument("--overload", type=float, default=10.0)
    parser.add_argument("--addresses", type=int, default=1, help="of clients, at most 254")
    parser.add_argument("--disk", type=Path, default=None, help="folder for the journal")
    parser.add_argument("options", nargs="*", help="of planner serve, after --")
    asked = parser.parse_args(given)
    with tempfile.TemporaryDirectory(dir=asked.disk) as name:
        folder = Path(name)
        print(disk(folder), flush=True)
        cores = os.sched_getaffinity(0)
        process, port = started(folder, *asked.options)
        try:
            pin(process.pid)
            client = Client(port, (folder / "token").read_text(), asked.addresses)

            def told(name: str, stretch: Stretch) -> None:
                lines = (folder / "log").read_text().splitlines()
                log = [json.loads(line) for line in lines if line.endswith("}")]
                print(stretch.line(name), stretch.inside(log), sep="\n", flush=True)

            return asyncio.run(run(client, process.pid, asked, told))
        finally:
            os.sched_setaffinity(0, cores)
            process.send_signal(signal.SIGTERM)
            process.wait(240)


if __name__ == "__main__":
    main()
