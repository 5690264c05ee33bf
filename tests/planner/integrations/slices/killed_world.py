"""A controller with its journal, its reconciler and the driver of Slices, over an API and a GKE that fail by seed.

The process is killed before or after any write of the journal or of the driver's record, and any request: all that it
had in memory is lost. Others delete, change and make Slices. Everything runs in one thread on a clock of its own, but
for the server of the API.
"""

import math
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from unittest import mock

from planner.controller import Controller, Settings, driver_calls, durable, journal
from planner.controller.clock import Clock
from planner.controller.journal_file import Seen, connect
from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations import private_files
from planner.integrations.kubernetes.client import KubernetesClient
from planner.integrations.slices.driver import SliceDriver
from planner.integrations.switch_drivers import recorded
from planner.placement.placement import Place
from tests.planner.integrations.kubernetes.emulator import Server
from tests.planner.integrations.kubernetes.objects import NODES, SLICES
from tests.planner.integrations.slices.cubes import (
    PARTITIONS,
    RULES,
    cluster,
    divided,
    divided_site,
    host_of,
    nodes,
    request,
    site,
)  # fmt: skip
from tests.planner.integrations.slices.gke import SliceController
from tests.planner.integrations.switch_drivers.ocs.controlled_world import Inline, Mortal
from tests.planner.integrations.switch_drivers.ocs.faulty_world import Killed

SIZES, DIVIDED_SIZES = (16, 64, 64, 128, 256), (4, 8, 8, 16, 32, 64, 128)
MOST_JOBS = 4
SETTLED_S = 200


@dataclass
class KilledWorld:
    """Jobs come and go, and processes with them."""

    server: Server
    folder: Path
    random: Random
    is_divided: bool = False
    """whether jobs inside a cube have Slices, too"""
    now_s: float = 0.0
    kills_in: float = math.inf
    number: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    opened: list[Any] = field(default_factory=list)
    connected: dict[str, Place] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.emulator = self.server.emulator
        self.gke = SliceController(self.emulator, self.random, 0.7, 0.1)
        self.api = self.server.api(lambda: self.now_s)
        self.cluster = divided() if self.is_divided else cluster()
        self.site = divided_site() if self.is_divided else site()
        for node in nodes() if self.is_divided else ():
            self.emulator.put(NODES, node)

    def point(self) -> None:
        """Where the process may be killed."""
        self.kills_in -= 1
        if self.kills_in < 0:
            raise Killed

    def sleep(self, time_s: float) -> None:
        self.now_s += time_s
        self.gke.step()

    def run(self, steps: int) -> None:
        process = self._opened()
        for _ in range(steps):
            self.sleep(self.random.uniform(0.1, 2.0))
            self._meddle()
            self.kills_in = self.random.choice([math.inf, self.random.randrange(25)])
            try:
                self._step(*process)
            except Killed:
                process = self._revived()
        self.kills_in = math.inf
        self._settle(*process)
        self._abandon()

    def _step(self, controller: Controller, reconciler: SwitchReconciler) -> None:
        jobs, what = [each["request"]["name"] for each in controller.state()["jobs"]], self.random.random()
        if what < 0.5 and len(jobs) < MOST_JOBS:
            self.number += 1
            controller.submit(
                request(f"j{self.number}", self.random.choice(DIVIDED_SIZES if self.is_divided else SIZES))
            )
        elif what < 0.8 and jobs:
            name = self.random.choice(jobs)
            (controller.finish if name in controller.running else controller.cancel)(name)
        elif what < 0.9:
            cube = self.random.choice([*PARTITIONS])
            (controller.repair if cube in controller.down else controller.fail)(cube)
        reconciler.tick()
        self._look(controller, reconciler)

    def _meddle(self) -> None:
        """What others do, and the API."""
        self.emulator.is_down = self.random.random() < 0.05
        self.emulator.num_busy = self.random.randrange(4) if self.random.random() < 0.1 else 0
        found, what = self.emulator.all(SLICES), self.random.random()
        if not found or what > 0.2:
            return
        self.counts["meddled"] += 1
        item = self.random.choice(found)
        name = item["metadata"]["name"]
        if what < 0.05:
            self.emulator.remove("alice", "slices", None, name)
        elif what < 0.1 and not item["metadata"].get("deletionTimestamp"):
            self.emulator.change(SLICES, None, name, metadata={"annotations": None})
        elif what < 0.15 and not item["metadata"].get("deletionTimestamp"):
            self.gke._say(item, "False", "FAILED")
        else:
            self.emulator.before_write.append(self._guest)

    def _guest(self) -> None:
        """Somebody makes a Slice right before the planner does."""
        used = {one for item in self.emulator.all(SLICES) for one in self.gke.nodes(item)}
        cubes = {one: self.gke.nodes({"spec": {"partitionIds": [one]}}) for one in PARTITIONS.values()}
        if free := sorted(one for one, taken in cubes.items() if not taken & used):
            self.counts["guests"] += 1
            spec = {"type": "tpu7x", "topology": "4x4x4", "partitionIds": [self.random.choice(free)]}
            self.emulator.put(SLICES, {"metadata": {"name": f"guest-{self.counts['guests']}"}, "spec": spec})

    def _look(self, controller: Controller, reconciler: SwitchReconciler) -> None:
        """A job that is told to run has its Slices."""
        running = dict(controller.running)
        self.connected = {job: place for job, place in self.connected.items() if running.get(job) == place}
        for job, place in running.items():
            if reconciler.connected(job, place) and job not in self.connected:
                self.connected[job] = place
                assert self._missing(place) == set(), f"{job} was told to run too early"

    def _missing(self, place: Place) -> set[str]:
        """What a job is to have in Slices of its own, and is in none that is ready."""
        mine = self._nodes(place)
        ready = [self.gke.nodes(item) for item in self.emulator.all(SLICES) if self.gke.state(item) == "ACTIVE"]
        return mine.difference(*(nodes for nodes in ready if nodes <= mine))

    def _nodes(self, place: Place) -> set[str]:
        """What a job is to have in Slices: nodes, or cubes whose nodes are not known."""
        if self.is_divided:
            return {host_of(*device) for device in place.devices}
        return set() if len(place.devices) % 64 else {PARTITIONS[f"s{server}"] for server in place.servers}

    def shared(self) -> list[str]:
        """Partitions that were in two Slices of the planner at once, at any time."""
        found, live = list[str](), dict[str, set[str]]()
        slices = (each for each in self.emulator.events if "partitionIds" in (each.after or each.before or {})["spec"])
        for change in slices:
            name = (change.after or change.before or {})["metadata"]["name"]
            if change.after is None:
                live.pop(name, None)
            elif not name.startswith("guest"):
                live[name] = self.gke.nodes(change.after)
            counted = Counter(one for each in live.values() for one in each)
            found += [f"{one} at {change.version}" for one, times in counted.items() if times > 1]
        return found

    def _settle(self, controller: Controller, reconciler: SwitchReconciler) -> None:
        """No more faults: in the end there are Slices where jobs run, and nowhere else."""
        self.gke.faults, self.emulator.is_down, self.emulator.num_busy = 0.0, False, 0
        self.emulator.before_write.clear()
        for item in self.emulator.all(SLICES):
            if item["metadata"]["name"].startswith("guest"):
                self.emulator.remove("alice", "slices", None, item["metadata"]["name"])
        for part in controller.down:
            controller.repair(part)
        for _ in range(SETTLED_S // 5):
            self.sleep(5.0)
            reconciler.tick()
            self._look(controller, reconciler)
        used, running = [self.gke.nodes(item) for item in self.emulator.all(SLICES)], controller.running.values()
        wanted = Counter(node for place in running for node in self._nodes(place))
        assert Counter(node for nodes in used for node in nodes) == wanted
        assert [self._missing(place) for place in running] == [set()] * len(running)
        assert {*controller.running} == {*self.connected}

    def _revived(self) -> tuple[Controller, SwitchReconciler]:
        """Another process, which may be killed as it begins."""
        while True:
            self.counts["killed"] += 1
            self._abandon()
            self.sleep(self.random.uniform(0.1, 10.0))
            self.kills_in = self.random.choice([math.inf, math.inf, self.random.randrange(30)])
            with suppress(Killed):
                return self._opened()

    def _opened(self) -> tuple[Controller, SwitchReconciler]:
        path = self.folder / "planner.db"
        controller = Controller(None if path.exists() else self.cluster, path, Settings.model_validate(RULES))
        driver = SliceDriver(
            self.folder / "planner.db.circuits", self.site, self.api, clock=lambda: self.now_s, sleep=self.sleep
        )
        self.connected.clear()
        return controller, SwitchReconciler(controller, driver, read_back_s=10.0, clock=lambda: self.now_s)

    def _abandon(self) -> None:
        """All of a process is lost, and the system takes back what it had open."""
        for each in self.opened:
            with suppress(sqlite3.ProgrammingError):  # closed already
                if isinstance(each, sqlite3.Connection) and each.in_transaction:
                    each.rollback()
            each.close()
        self.opened.clear()


@contextmanager
def killed(world: KilledWorld) -> Iterator[None]:
    """A world in place of the clock, threads and the disk of a controller, and between it and the API."""

    def connected(path: str) -> Any:
        world.opened.append(connect(path))
        return Mortal(world.opened[-1], world.point)

    def seen(path: str) -> Seen:
        world.opened.append(Seen(path))
        return world.opened[-1]  # type: ignore[no-any-return]

    def written(path: Path, text: str) -> None:
        world.point()
        private_files.write_private(path, text)
        world.point()

    ask: Callable[..., Any] = KubernetesClient._ask

    def asked(api: KubernetesClient, *given: Any, **more: Any) -> Any:
        world.point()
        found = ask(api, *given, **more)
        world.point()
        return found

    now: Callable[[], float] = lambda: world.now_s  # noqa: E731
    places: Sequence[tuple[Any, str, Any]] = (
        (journal, "connect", connected), (journal, "Seen", seen), (recorded, "write_private", written),
        (durable, "Clock", lambda: Clock(now, now)), (driver_calls, "ThreadPoolExecutor", Inline),
        (KubernetesClient, "_ask", asked),
    )  # fmt: skip
    with ExitStack() as stack:
        for where, name, what in places:
            stack.enter_context(mock.patch.object(where, name, what))
        yield
