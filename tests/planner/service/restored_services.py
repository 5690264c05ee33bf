"""Two services of one journal that is copied while one writes and the other follows, and put back when both have ended.

All are processes of their own, the commands too. What had been answered before the copy was begun is there in the end,
what was answered later is asked again under the same keys, whoever led before.
"""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import httpx
import yaml

from tests.planner.service.running import BEARER, START, Process, environment, job, started, until
from tests.planner.simulate.grounds import cluster
from tests.simulation.referee import TAKE_OVER_S, Answer, lost, rows_of, twice

SIZE = 2
"""accelerators of a job"""
MORE = 5
"""answers before a copy is begun, and after it is made"""
PAUSE_S = 0.1
"""between two events"""
BESIDE = {"devices", "circuits", "memory", "upper", "gives_back"}
"""what an answer tells of a decision beside what the journal has of it"""


@dataclass
class Asked:
    """One event: as it is asked, whoever is asked, and asked again."""

    key: str
    method: str
    path: str
    job: str

    def of(self, services: Sequence[Process], client: httpx.Client) -> Answer:
        """Ask until whoever leads answers."""
        asked_s, headers = time.time(), {"Idempotency-Key": self.key}
        body = job(self.job, SIZE) if self.method == "POST" else None
        while True:
            for service in list(services):
                try:
                    found = client.request(self.method, service.url + self.path, json=body, headers=headers)
                except httpx.TransportError:
                    continue
                if found.status_code == 200:
                    told = found.json()
                    decisions = [
                        {name: each[name] for name in each if name not in BESIDE} for each in told["decisions"]
                    ]
                    return Answer(self.key, told["seq"], decisions, asked_s, time.time())
                assert found.status_code in (429, 503), f"{self.path}: {found.status_code} {found.text}"
            time.sleep(0.05)


@dataclass
class Writer:
    """Submits jobs and cancels every other one, one after the other."""

    services: list[Process]
    client: httpx.Client
    asked: list[Asked] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    is_over: bool = False

    def run(self) -> None:
        while not self.is_over:
            name = f"j{len(self.asked)}"
            self._ask(Asked(f"submit-{name}", "POST", "/v1/jobs", name))
            if len(self.asked) % 4 != 1:
                self._ask(Asked(f"cancel-{name}", "DELETE", f"/v1/jobs/{name}", name))

    def _ask(self, event: Asked) -> None:
        self.asked.append(event)
        self.answers.append(self.again(event))
        time.sleep(PAUSE_S)

    def again(self, event: Asked) -> Answer:
        return event.of(self.services, self.client)

    def leads(self, service: Process) -> bool:
        return self.client.get(f"{service.url}/healthz").status_code == 200

    def has_more(self, number: int) -> None:
        """Wait until so many more are answered."""
        wanted = len(self.answers) + number
        until(lambda: len(self.answers) >= wanted)


def commanded(*words: str) -> None:
    """`planner` with these words, as a process of its own."""
    done = subprocess.run([sys.executable, "-c", START, *words], env=environment(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()


def restored(folder: Path, rounds: int, *, between_s: float = 0.0, is_led_twice: bool = False) -> Iterator[str]:
    """What was wrong in so many rounds of a copy, an end of both, and the copy put back. `is_led_twice`: who leads then
    is ended too, and one that stood by goes on."""
    (folder / "cluster.yaml").write_text(yaml.safe_dump(cluster("lightpath").model_dump(mode="json", by_alias=True)))
    with ExitStack() as stack:
        services: list[Process] = []
        client = stack.enter_context(httpx.Client(headers=BEARER, timeout=5, trust_env=False))
        writer = Writer(services, client)

        def begin() -> None:
            options = ("--standby", "--driver", f"file:{folder / 'driver'}", "--rate", "0")
            services.append(stack.enter_context(started(folder, str(folder / "cluster.yaml"), *options)))

        for number in range(rounds):
            while len(services) < 2:
                begin()
            yield from _put_back(folder, writer, number, between_s)
            services.clear()
            begin()
            if is_led_twice:
                begin()
            yield from _go_on(folder, writer)


def _put_back(folder: Path, writer: Writer, number: int, between_s: float) -> Iterator[str]:
    """Copy while a client writes, end both, and put the copy back."""
    path, copy = folder / "planner.db", folder / f"copy{number}.db"
    writer.is_over = False
    thread = Thread(target=writer.run)
    thread.start()
    writer.has_more(MORE)
    time.sleep(between_s)
    before = list(writer.answers)
    commanded("backup", str(path), str(copy))
    time.sleep(between_s)
    writer.has_more(MORE)
    writer.is_over = True
    thread.join()
    for each in writer.services:
        each.process.send_signal(signal.SIGKILL)
        each.process.wait()
    written = rows_of(path)
    commanded("restore", str(copy), str(path))
    held = rows_of(path)
    if held != rows_of(copy) or held != written[: len(held)]:
        yield f"copy {number}: what was put back is no beginning of what was written"
    if len(held) == len(written):
        yield f"copy {number}: nothing was written after it"
    yield from lost(path, before)


def _go_on(folder: Path, writer: Writer) -> Iterator[str]:
    """Ask again what is not known any more, end who leads where another stands by, and see that all of it is there."""
    path = folder / "planner.db"
    known = {key for _, key, *_ in rows_of(path)}
    kept = [each for each in writer.answers if each.key in known]
    writer.answers[:] = kept + [writer.again(each) for each in writer.asked if each.key not in known]
    again = [writer.again(each) for each in writer.asked if each.key in known]
    if [(each.key, each.decisions) for each in again] != [(each.key, each.decisions) for each in kept]:
        yield "what is asked again is answered otherwise"
    leader, *others = writer.services
    until(lambda: writer.leads(leader))
    if others:
        leader.process.send_signal(signal.SIGKILL)
        began_s = time.monotonic()
        writer.services.remove(leader)
        until(lambda: writer.leads(others[0]))
        if (took_s := time.monotonic() - began_s) > TAKE_OVER_S:
            yield f"nobody led for {took_s:.1f} s"
    found = writer.client.get(f"{writer.services[0].url}/v1/jobs", params={"state": "running"})
    running, switches = {each["name"] for each in found.json()["jobs"]}, folder / "driver" / "switches.json"
    until(lambda: set(json.loads(switches.read_text())["on"]) == running)
    yield from lost(path, writer.answers)
    yield from twice(path, [])
