"""A leader and a standby as real processes that are killed: `python -m tests.benchmarks.bench_standby --kills 20`.

`planner serve --standby` runs twice over one journal and emulated switches, which this process serves. A client submits
and ends jobs under keys all the time, asks whoever leads, and asks again what was not answered. At random moments the
leader ends by SIGKILL, or every third time is stopped by SIGSTOP, as a machine that hangs; another standby begins then.
Exit code 1: something that was answered is lost or has happened twice, nobody led within 10 s, two led at once, a
stopped leader was left to go on, or the referee of the emulator blames light on the controllers.

`--restores 10` does something else instead: it copies the journal while one writes and the other stands by, ends both,
puts the copy back, asks again what came after it, and ends who leads then.
"""

import argparse
import signal
import sqlite3
import sys
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import httpx

from planner.controller import Controller
from planner.controller.decisions import Move, Start
from planner.integrations.switch_emulator import Emulator, SwitchSpec
from planner.integrations.switch_emulator.server import serving
from tests.oracles.controller import replayed
from tests.planner.controller.sites import quick_folder
from tests.planner.integrations.switch_drivers.ocs.controlled_world import ControlledWorld
from tests.planner.integrations.switch_drivers.ocs.site import edited, site_of
from tests.planner.service.restored_services import restored
from tests.planner.service.running import BEARER, Process, job, started, until
from tests.simulation.referee import TAKE_OVER_S, Answer, lost, twice

KIND, SIZE = "torus", 16
END_S = 90.0
"""until all jobs have ended and no light is on"""


@dataclass
class Client:
    """Submits one job after the other and ends it when it has its light, at whoever leads."""

    services: list[Process]
    answers: list[Answer] = field(default_factory=list)
    told: dict[str, float] = field(default_factory=dict)
    """by job: when its light was on first"""
    is_over: bool = False
    number: int = 0

    def run(self) -> None:
        while not self.is_over:
            self.number += 1
            name = f"j{self.number}"
            self._event(f"submit {name}", "POST", "/v1/jobs", job(name, SIZE))
            self._wait(name)
            self._event(f"cancel {name}", "DELETE", f"/v1/jobs/{name}", None)

    def _wait(self, name: str) -> None:
        """Until its light is on, for some seconds."""
        end_s = time.time() + 8.0
        while time.time() < end_s and not self.is_over:
            found = self._ask("GET", f"/v1/jobs/{name}", None, {})
            if found.json().get("connected"):
                self.told.setdefault(name, time.time())
                return
            time.sleep(0.05)

    def _event(self, key: str, method: str, path: str, body: Any) -> None:
        asked_s = time.time()
        found = self._ask(method, path, body, {"Idempotency-Key": key.replace(" ", "-")}).json()
        self.answers.append(Answer(key.replace(" ", "-"), found["seq"], found["decisions"], asked_s, time.time()))

    def _ask(self, method: str, path: str, body: Any, headers: dict[str, str]) -> httpx.Response:
        while True:
            for service in list(self.services):
                try:
                    found = httpx.request(
                        method, service.url + path, json=body, headers=BEARER | headers, timeout=5, trust_env=False
                    )
                except httpx.TransportError:
                    continue
                if found.status_code == 200 and (method != "GET" or leads(service)):
                    return found
                assert found.status_code in (200, 429, 503), f"{path}: {found.status_code} {found.text}"
            time.sleep(0.05)


def leads(service: Process) -> bool:
    try:
        return httpx.get(f"{service.url}/healthz", timeout=1, trust_env=False).status_code == 200
    except httpx.TransportError:
        return False


def strike(services: list[Process], number: int, wrong: list[str]) -> float:
    """End or stop who leads: seconds until the other does."""
    until(lambda: any(map(leads, services)))
    leader = next(each for each in services if leads(each))
    other = next(each for each in services if each is not leader)
    began_s = time.monotonic()
    leader.process.send_signal(signal.SIGSTOP if number % 3 == 2 else signal.SIGKILL)
    until(lambda: leads(other))
    took_s = time.monotonic() - began_s
    until(lambda: leader.process.poll() is not None, 5.0)
    if leader.process.returncode != -signal.SIGKILL:
        wrong.append(f"kill {number}: the old leader ended with {leader.process.returncode}")
    if took_s > TAKE_OVER_S:
        wrong.append(f"kill {number}: nobody led for {took_s:.1f} s")
    services.remove(leader)
    return took_s


def judge_all(path: Path, client: Client, world: ControlledWorld) -> list[str]:
    """What the referees say."""
    rows = sqlite3.connect(path).execute("SELECT key, decisions FROM events WHERE key IS NOT NULL").fetchall()
    keys = {key for key, _ in rows}
    wrong = [f"{each.key} was answered, and is lost" for each in client.answers if each.key not in keys]
    wrong += lost(path, [])
    wrong += twice(path, [])
    with Controller(journal=path) as controller:
        for event in controller.decided(0, 100_000):
            for decision in event.decisions:
                if isinstance(decision, Start | Move) and event.at_s <= client.told.get(decision.job, 0.0):
                    world.started[event.seq] = {decision.job: client.told[decision.job]}
        world.read(controller)
        if (left := replayed(path).jobs) != {}:
            wrong.append(f"left in the end: {[*left]}")
    return wrong + [f"{each.kind}: {each}" for each in world.judged().blamed]


def put_back(rounds: int) -> int:
    """Copies that are put back, and what was wrong with them."""
    with quick_folder() as name:
        wrong = list(restored(Path(name), rounds, between_s=1.0, is_led_twice=True))
    for text in wrong[:20]:
        print(text)
    print(f"{rounds} copies put back; wrong: {len(wrong)}")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--restores", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    if given.restores:
        return put_back(given.restores)
    random, wrong, took_s = Random(given.seed), list[str](), list[float]()
    with quick_folder() as name, ExitStack() as stack:
        folder = Path(name)
        site = stack.enter_context(site_of(folder, KIND))
        world = ControlledWorld(site, given.seed, 0.0)
        specs = [SwitchSpec(switch, len(each.ports)) for switch, each in site.switches.items()]
        world.emulator = Emulator(specs, seed=given.seed, clock=time.time)
        addresses = stack.enter_context(serving(world.emulator))
        urls = {switch: {"url": addresses[switch].removesuffix("/restconf")} for switch in site.switches}
        edited(site.path, lambda config: config.update(switches=urls))
        services: list[Process] = []

        options = ("--standby", "--driver", f"ocs:{site.path}", "--rate", "0")

        def begin() -> None:
            services.append(stack.enter_context(started(folder, str(folder / "cluster.yaml"), *options)))

        for _ in range(2):
            begin()
        client = Client(services)
        thread = threading.Thread(target=client.run)
        thread.start()
        for number in range(given.kills):
            time.sleep(random.uniform(0.5, 4.0))
            took_s.append(strike(services, number, wrong))
            print(f"kill {number + 1}: another led after {took_s[-1]:.2f} s", file=sys.stderr, flush=True)
            begin()
            if all(map(leads, services)):
                wrong.append(f"after kill {number} two lead at once")
        client.is_over = True
        thread.join()
        until(lambda: not world.lit(), END_S)
        world.now_s = time.time()
        for each in services:
            each.process.send_signal(signal.SIGTERM)
            each.process.wait()
        wrong += judge_all(folder / "planner.db", client, world)
    for text in wrong[:20]:
        print(text)
    by_kill = [each for number, each in enumerate(took_s) if number % 3 != 2]
    print(
        f"{given.kills} kills, {len(client.answers)} answers, {len(client.told)} jobs with light; wrong: {len(wrong)}"
    )
    longest_s = max(by_kill, default=0.0), max(took_s[2::3], default=0.0)
    print(f"another led at most {longest_s[0]:.1f} s after SIGKILL, {longest_s[1]:.1f} s after SIGSTOP")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
