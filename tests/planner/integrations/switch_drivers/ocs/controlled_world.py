"""A controller with its journal, its reconciler and the driver over emulated switches that fail by seed.

The process is killed before or after any write of the journal or of the driver's record, and any request: all that it
had in memory is lost. Everything runs in one thread on a clock of its own, so that a seed says what happens.
"""

import logging
import math
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from json import dumps
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

from planner.controller import Controller, Request, Settings, driver_calls, durable, journal
from planner.controller.clock import Clock
from planner.controller.decisions import Move, Start, Stop
from planner.controller.journal_file import Seen, connect
from planner.controller.switch_driver import Driver
from planner.controller.switch_reconciler import SwitchReconciler
from planner.fabrics import plugin_of
from planner.fabrics.switch_ports import states_of
from planner.integrations import private_files
from planner.integrations.switch_drivers import recorded
from planner.integrations.switch_drivers.ocs import driver as ocs_driver
from planner.integrations.switch_drivers.ocs import owed
from planner.integrations.switch_emulator import FaultKind, Holding, judge
from planner.integrations.switch_emulator.referee import CrossConnect
from planner.integrations.wiring.cables import CableTable
from planner.integrations.wiring.cross_connects import of_states
from planner.model.plan import Circuit
from planner.placement.placement import Place
from tests.planner.controller.sites import request
from tests.planner.integrations.switch_drivers.ocs.faulty_world import GRACE_S, FaultySwitches, Killed, T, faulty
from tests.planner.integrations.switch_drivers.ocs.light_verdict import Verdict, verdict
from tests.planner.integrations.wiring.wiring_cases import cluster_of

MOST_JOBS = 3
MENDED = 0.5
"""share of steps after which operators have mended all"""
READ_BACK_S = 5.0
SETTLED_S = 200.0
"""after the last fault, until when all must be as it should"""
RULES = {"greedy_budget_s": 60, "repair_budget_s": 0, "snapshot_every": 20}
SIZES = {"torus": [16], "ocs_rail": [16], "sipam": [2, 4, 4]}
"""of jobs, in accelerators, by fabric"""


class Inline:
    """An executor whose calls end before they are heard of."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def submit(self, call: Callable[..., Any], *given: Any) -> Future[Any]:
        found: Future[Any] = Future()
        try:
            found.set_result(call(*given))
        except Exception as error:
            found.set_exception(error)
        return found

    def shutdown(self) -> None:
        pass


class Mortal:
    """A connection to a journal that comes to a point before and after each statement that writes."""

    def __init__(self, inner: sqlite3.Connection, point: Callable[[], None]) -> None:
        self._inner, self._point = inner, point

    def execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        return self._run(statement, lambda: self._inner.execute(statement, values))

    def executemany(self, statement: str, rows: Any) -> sqlite3.Cursor:
        return self._run(statement, lambda: self._inner.executemany(statement, rows))

    def _run(self, statement: str, run: Callable[[], sqlite3.Cursor]) -> sqlite3.Cursor:
        if statement.startswith("SELECT"):
            return run()
        self._point()
        cursor = run()
        self._point()
        return cursor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@dataclass
class Process:
    """What one process has in memory."""

    controller: Controller
    driver: Driver
    reconciler: SwitchReconciler


@dataclass(frozen=True)
class Placed:
    """A job at a place, since an event."""

    seq: int
    from_s: float
    circuits: frozenset[CrossConnect]


@dataclass
class ControlledWorld(FaultySwitches):
    """Jobs come and go; each run of the process ends with a kill, or with the world."""

    held: list[Holding] = field(default_factory=list)
    """of jobs that have left their place"""
    placed: dict[str, Placed] = field(default_factory=dict)
    lasting: dict[str, list[Placed]] = field(default_factory=lambda: defaultdict(list))
    """earlier places of jobs that have grown since around all of their circuits: these are to stay on"""
    started: dict[int, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))
    """when a job was told to run, by the event that placed it"""
    guests: set[tuple[str, str]] = field(default_factory=set)
    """cross-connects of others, by switch"""
    told: list[str] = field(default_factory=list)
    """all that was logged"""
    seen: int = 0
    """events of the journal that were read"""
    number: int = 0
    """jobs that were submitted"""
    _circuits: dict[str, frozenset[CrossConnect]] = field(default_factory=dict)
    """by the circuits of a place, as drivers read them"""
    most_points: ClassVar[int] = 400
    """where the process may be killed, until it is: of a step"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.path = self.site.path.parent / "planner.db"
        self.cluster = cluster_of(self.site.kind)
        self.opened: list[Any] = []
        self.mishaps = 0

    def asked(self, ask: Callable[[], T], what: str = "") -> T:
        found = super().asked(ask, what)
        self.point()
        return found

    @cached_property
    def table(self) -> CableTable:
        """The wiring."""
        return CableTable.of(self.cluster.fabric)

    def run(self, steps: int) -> Verdict:
        """Steps with faults and kills, then quiet until all is as it should."""
        process = self._open()
        for _ in range(steps):
            self.sleep(self.random.uniform(0.1, 2.0))
            self.kills_in = self.random.choice([math.inf, self.random.randrange(self.most_points)])
            try:
                self._step(process)
            except Killed:
                process = self._revived()
        self.kills_in = math.inf
        self._settle(process)
        self._abandon()
        return self.judged()

    def _step(self, process: Process) -> None:
        self._mend(process.controller)
        self._event(process.controller)
        self._look(process)
        process.reconciler.tick()
        self._look(process)

    def _event(self, controller: Controller) -> None:
        """A job comes or goes, or nothing happens."""
        jobs, what = [each["request"]["name"] for each in controller.state()["jobs"]], self.random.random()
        if what < 0.5 and len(jobs) < MOST_JOBS:
            self.number += 1
            controller.submit(self._new(f"j{self.number}"))
        elif what < 0.8 and jobs:
            name = self.random.choice(jobs)
            (controller.finish if name in controller.running else controller.cancel)(name)

    def _new(self, name: str) -> Request:
        """What a job that comes asks for."""
        return request(name, self.random.choice(SIZES[self.site.kind]))

    def _mend(self, controller: Controller, chance: float = MENDED) -> None:
        """Operators mend switches, and tell of it."""
        if self.mend_switches(chance):
            for part in controller.down:
                controller.repair(part)

    def stop_faults(self) -> None:
        """From now on switches work."""
        for draw in self.emulator.faults.values():
            draw.stop()

    @property
    def faults(self) -> list[str]:
        """Of switches until now, each by its kind."""
        return [str(each.kind) for each in self.emulator.happened]

    def mend_switches(self, chance: float) -> bool:
        """Operators mend ports, and take circuits of others away; whether they did."""
        for mishap in self.emulator.happened[self.mishaps :]:
            if mishap.kind == FaultKind.FOREIGN:
                self.guests.add((mishap.switch, mishap.what.partition(" ")[0]))
        self.mishaps = len(self.emulator.happened)
        is_mended = self.random.random() < chance
        if is_mended:
            for guest in sorted(self.guests):
                self._remove(*guest)
            self.guests.clear()
            for switch in self.emulator.switches.values():
                switch.hardware.stuck.clear()
        return is_mended

    def _guests(self) -> dict[CrossConnect, float]:
        """All circuits of others, and when they first came."""
        found: dict[CrossConnect, float] = {}
        for mishap in self.emulator.happened:
            if mishap.kind == FaultKind.FOREIGN:
                a_side, _, b_side = mishap.what.partition(" ")[0].partition("-")
                found.setdefault((mishap.switch, a_side, b_side), mishap.at_s)
        return found

    def _remove(self, name: str, guest: str) -> None:
        switch = self.emulator.switches[name]
        if guest in switch.circuits:
            switch.hardware.delete(guest, FaultKind.FOREIGN)
            del switch.circuits[guest]

    def _look(self, process: Process) -> None:
        """Read the journal, and note which jobs are told to run."""
        controller = process.controller
        self.read(controller)
        for job, place in controller.running.items():
            if process.reconciler.connected(job, place):
                self.started[self.placed[job].seq].setdefault(job, self.now_s)

    def lit(self) -> set[CrossConnect]:
        """Where there is light now."""
        return {(each.switch, each.a_side, each.b_side) for each in self.emulator.light() if each.is_on}

    def read(self, controller: Controller) -> None:
        """Note who holds what since when, from the events that were not read yet."""
        for event in controller.decided(self.seen, 10_000):
            self.seen = event.seq
            for decision in event.decisions:
                job, now = decision.job, None
                if isinstance(decision, Start | Move):
                    now = Placed(event.seq, event.at_s, self.circuits_of(decision.place))
                if isinstance(decision, Stop | Move) and job in self.placed:
                    self._leave(job, now, event.at_s)
                if now is not None:
                    self.placed[job] = now

    def _leave(self, job: str | None, now: Placed | None, at_s: float) -> None:
        """A job leaves its place, for another one if there is one `now`; if that has all circuits, they are to stay."""
        assert job is not None
        before = self.placed.pop(job)
        self.lasting[job].append(before)
        if now is None or not before.circuits <= now.circuits:
            self.held += [self._holding(job, each, at_s) for each in self.lasting.pop(job)]
        elif before.circuits and before.circuits < now.circuits:
            self.counts["grew around light"] += 1

    def judged(self) -> Verdict:
        """What was wrong with the light until now."""
        held = self.holdings()
        found = judge(self.emulator.light(), held, now_s=self.now_s, grace_s=GRACE_S)
        return verdict(found, held, self._guests(), self.told, GRACE_S)

    def holdings(self) -> list[Holding]:
        """Of all jobs until now."""
        lasting = ((job, each) for job, places in self.lasting.items() for each in places)
        now = (self._holding(job, each, math.inf) for job, each in (*self.placed.items(), *lasting))
        return [*self.held, *now]

    def circuits_of(self, place: Place) -> frozenset[CrossConnect]:
        text = dumps(place.circuits_json)
        if text not in self._circuits:
            self._circuits[text] = self._circuits_of(place)
        return self._circuits[text]

    def _circuits_of(self, place: Place) -> frozenset[CrossConnect]:
        ports = plugin_of(self.cluster.fabric).switch_ports
        lit = [(held.get("phase"), Circuit.model_validate(c)) for held in place.circuits_json for c in held["circuits"]]
        found = of_states(states_of(ports.connections(self.cluster.fabric, lit)), self.table)
        return frozenset((switch, each.a_side, each.b_side) for switch, joined in found.items() for each in joined)

    def _holding(self, job: str, placed: Placed, until_s: float) -> Holding:
        return Holding(job, placed.circuits, placed.from_s, until_s, self.started[placed.seq].get(job))

    def _settle(self, process: Process) -> None:
        """No more faults, all is mended: in the end there is light where jobs run, and nowhere else."""
        self.stop_faults()
        for _ in range(int(SETTLED_S / 5)):
            self._mend(process.controller, chance=1.0)
            self.sleep(5.0)
            process.reconciler.tick()
            self._look(process)
        wanted = set[CrossConnect]().union(*(placed.circuits for placed in self.placed.values()))
        on = self.lit()
        assert on == wanted, f"leaked in the end: {on - wanted}, dark: {wanted - on}"
        assert all(job in self.started[placed.seq] for job, placed in self.placed.items() if placed.circuits)

    def _revived(self) -> Process:
        """Another process, which may be killed as it begins."""
        while True:
            self.counts["killed"] += 1
            self._abandon()
            self.sleep(self.random.uniform(0.1, 10.0))
            self.kills_in = self.random.choice([math.inf, math.inf, self.random.randrange(60)])
            with suppress(Killed):
                process = self._open()
                assert process.controller.seq >= self.seen, "an event is lost that was read"
                return process

    def _open(self) -> Process:
        is_new = not self.path.exists()
        controller = Controller(self.cluster if is_new else None, self.path, Settings.model_validate(RULES))
        driver = self._driver()
        loop = SwitchReconciler(controller, driver, read_back_s=READ_BACK_S, clock=lambda: self.now_s)
        return Process(controller, driver, loop)

    def _driver(self) -> Driver:
        """The driver of a new process."""
        return self.site.driver()

    def _abandon(self) -> None:
        """All of a process is lost, and the system takes back what it had open."""
        for each in self.opened:
            with suppress(sqlite3.ProgrammingError):  # closed already
                if isinstance(each, sqlite3.Connection) and each.in_transaction:
                    each.rollback()
            each.close()
        self.opened.clear()
        self.site.drivers.clear()


class _Told(logging.Handler):
    """Keeps what is logged."""

    def __init__(self, told: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        self._told.append(f"{record.getMessage()} {getattr(record, 'fields', '')}")


@contextmanager
def controlled(world: ControlledWorld) -> Iterator[None]:
    """A world in place of the network, the clock, threads and the disk of a controller."""

    def connected(path: str) -> Any:
        world.opened.append(connect(path))
        return Mortal(world.opened[-1], world.point)

    def seen(path: str) -> Seen:
        world.opened.append(Seen(path))
        return world.opened[-1]  # type: ignore[no-any-return]

    def written(path: Path, text: str) -> None:
        world.point_before("write")
        private_files.write_private(path, text)
        world.point()

    now, told, log = (lambda: world.now_s), _Told(world.told), logging.getLogger("planner.controller")
    was_told, log.propagate = log.propagate, False
    log.addHandler(told)
    try:
        with faulty(world), ExitStack() as stack:
            for where, name, what in (
                (journal, "connect", connected), (journal, "Seen", seen), (recorded, "write_private", written),
                (owed, "write_private", written), (durable, "Clock", lambda: Clock(now, now)),
                (driver_calls, "ThreadPoolExecutor", Inline), (ocs_driver, "ThreadPoolExecutor", Inline),
            ):  # fmt: skip
                stack.enter_context(mock.patch.object(where, name, what))
            yield
    finally:
        log.removeHandler(told)
        log.propagate = was_told
