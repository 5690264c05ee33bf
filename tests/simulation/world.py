"""Two processes of a controller over one journal and emulated switches, in one process and on one clock.

Every thread of theirs is a `Strand`; the world lets one run at a time, in the order in which they wake, and draws all
else from its seed: what clients ask, which statement of the journal, write of the record or request to a switch is the
last one of a process, where it is stopped for seconds, when the power of all is cut, when the disk is
full, and what switches do by themselves.
"""

import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from fcntl import LOCK_UN, flock
from functools import partial
from itertools import count
from random import Random

from planner.controller import Controller, Settings
from planner.controller.journal_file import Seen, is_held
from planner.controller.switch_driver import Driver
from planner.controller.switch_reconciler import SwitchReconciler
from planner.integrations.switch_drivers.ocs.config import load_switches
from planner.integrations.switch_drivers.ocs.driver import OcsDriver
from planner.integrations.switch_drivers.ranges import free
from planner.model.errors import DeposedError, InputError
from planner.service.command_queue import CommandQueue
from planner.service.lease_keeper import LeaseKeeper
from tests.planner.integrations.switch_drivers.ocs.controlled_world import (
    READ_BACK_S,
    RULES,
    SIZES,
    ControlledWorld,
)
from tests.simulation.beginnings import is_right
from tests.simulation.clients import Client, ElasticUser, Operator, User
from tests.simulation.copies import Copies
from tests.simulation.disk import Connection, Disk
from tests.simulation.mishaps import Mishaps
from tests.simulation.referee import TAKE_OVER_S
from tests.simulation.strands import Member, Strand

PARTS = {"torus": ("s1", "s0.c1", "s1.c2:port"), "ocs_rail": ("s1", "s0.g1", "q3#1"), "sipam": ("s1",)}
"""that fail by themselves, by fabric"""
QUEUE_S = 1.0
"""between two looks at a queue, unless something is put there"""
MOST_LATE_S = 1e9
HAVE_ELASTIC = 12
"""seeds in a row with, and then without, a user of elastic jobs"""


@dataclass
class SimulatedWorld(ControlledWorld):
    """`run` it within `simulated`; then `wrong` says what was seen to be wrong meanwhile."""

    has_two_machines: bool = False
    """else the processes share one, where a silent one is killed"""
    members: list[Member] = field(default_factory=list)
    """by place; each is followed by another when it has ended"""
    wrong: list[str] = field(default_factory=list)
    reigns: list[tuple[float, int]] = field(default_factory=list)
    """when a process began to lead, and which"""
    lost_s: float | None = None
    """when the one that leads was struck, if it was"""
    acted: int = 0
    """reigns until the last one in which anything was done: no power cut may undo these"""
    takeovers_s: list[float] = field(default_factory=list)
    """from there until the other led, where that was well all the time"""
    drivers: list[Driver] = field(default_factory=list)
    """of all processes"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.disk = Disk(self.path, self.site.path.parent / "driver")
        self.strand: Strand | None = None
        self.numbers = count(1)
        self.chaos = Mishaps(self)
        self.copies = Copies(self, Random(f"copies {self.seed}"))
        self.driver = self._make_drivers()
        self.clients = self._begin_clients()

    def _begin_clients(self) -> list[Client]:
        """Who asks for anything."""
        users = [User(self, name=name, sizes=tuple(SIZES[self.site.kind])) for name in "abc"]
        if self.site.kind == "ocs_rail" and self.seed // HAVE_ELASTIC % 2 == 0:
            users.append(ElasticUser(self, name="d"))
        return [*users, Operator(self, parts=PARTS[self.site.kind])]

    def _make_drivers(self) -> Callable[[Callable[[], int]], Driver]:
        """What makes the driver of a new process with its fence."""
        return partial(OcsDriver, self.disk.record, load_switches(self.site.path))

    def close(self) -> None:
        """Let go of drivers: what ends one by itself holds its switches, which are this world."""
        for driver in self.drivers:
            if isinstance(driver, OcsDriver):
                driver.close()

    # Time, and who runs

    def sleep(self, time_s: float) -> None:
        if self.strand is None:
            self.now_s += time_s
        else:
            self.strand.wait(self.now_s + time_s)

    def run_until(self, end_s: float) -> None:
        """Let all run that is due."""
        while True:
            time_s, next_one = self._next()
            if time_s > end_s:
                self.now_s = max(self.now_s, end_s)
                return
            self.now_s = max(self.now_s, time_s)
            if isinstance(next_one, Strand):
                self._step(next_one)
            else:
                next_one.act()

    def _next(self) -> tuple[float, Strand | Client | Mishaps | Copies]:
        """Who runs next, and when: of several at one time whoever was stopped, else the first."""
        found: Strand | Client | Mishaps | Copies = self.clients[0]
        least_s, is_stopped = found.wakes_s, False
        for other in (*self.clients[1:], self.chaos, self.copies):
            if other.wakes_s < least_s:
                least_s, found = other.wakes_s, other
        for member in self.members:
            for strand in member.strands:
                due_s = max(strand.wakes_s, member.frozen_s)
                is_first = due_s < least_s or (due_s == least_s and strand.is_stopped and not is_stopped)
                if is_first and not strand.is_over:
                    least_s, found, is_stopped = due_s, strand, strand.is_stopped
        return least_s, found

    def _step(self, strand: Strand) -> None:
        self.strand = strand
        strand.step()
        self.strand = None
        if strand.error is not None:
            self.wrong.append(f"{strand.name} of process {strand.member.number} ended: {strand.error!r}")
            strand.error, strand.member.is_dead = None, True
        for member in self.members:
            if member.is_dead:
                self.reap(member)
        if self.disk.cut:
            self.disk.tear(self.random)
            term = self._term_on_disk()
            if term < self.acted:
                self.wrong.append(f"a power cut undid term {self.acted}, in which something had been done")
            del self.reigns[term:]

    def _term_on_disk(self) -> int:
        """Of the journal as a power cut left it; 0 where there is none yet."""
        inner = sqlite3.connect(f"{self.path.as_uri()}?mode=ro", uri=True)
        try:
            return self._term(inner)
        except sqlite3.OperationalError:
            return 0
        finally:
            inner.close()

    @staticmethod
    def _term(inner: sqlite3.Connection) -> int:
        row = inner.execute("SELECT value FROM meta WHERE name = 'term'").fetchone()
        return 0 if row is None else int(row[0])

    def point(self) -> None:
        """A place where the process may end, or be stopped so that it goes on after others have led."""
        self.chaos.at_point(may_be_overtaken=True)

    # Processes

    def begin(self, place: int) -> None:
        """Another process in this place."""
        number = next(self.numbers)
        member = Member(number, f"machine {place}" if self.has_two_machines else "machine")
        self.members[place : place + 1] = [member]
        self._strand(member, "lease", partial(self._keep, member))

    def _strand(self, member: Member, name: str, body: Callable[[], None]) -> None:
        member.strands.append(Strand(member, name, body, self.now_s))

    def _keep(self, member: Member) -> None:
        """The main thread of a process: open the journal, then keep the lease."""
        began_s = self.now_s
        try:
            self._open_in(member)
        except (InputError, sqlite3.OperationalError, OSError) as error:
            if not is_right(self, member, began_s, str(error)):
                self.wrong.append(f"process {member.number} cannot begin: {error}")
            member.is_dead = True
            return
        self._strand(member, "queue", partial(self._serve, member))
        self._strand(member, "switches", partial(self._switch, member))
        member.ready_s = self.now_s
        while (wait_s := member.keeper.tick()) is not None:
            self.sleep(wait_s)
        member.is_dead = True

    def _open_in(self, member: Member) -> None:
        is_standby = self.path.exists() and is_held(str(self.path))
        controller = Controller(
            self.cluster, self.path, Settings.model_validate(RULES), is_standby=is_standby, is_leased=True
        )
        member.keeper = LeaseKeeper(controller, f"http://{member.number}", ["fence"])
        member.keeper.begin(lambda: None, lambda: None)
        driver = self.driver(partial(self._fence, controller))
        self.drivers.append(driver)
        member.reconciler = SwitchReconciler(controller, driver, read_back_s=READ_BACK_S, clock=lambda: self.now_s)
        member.queue = CommandQueue(controller, 128, MOST_LATE_S, lambda group, seq: None)
        member.controller = controller

    def _fence(self, controller: Controller) -> int:
        """Asked by the driver right before it acts: the last place where a process may be stopped."""
        self.point()
        return controller.require_leading()

    def _serve(self, member: Member) -> None:
        """The thread of the queue."""
        queue = member.queue
        while not queue.is_lost:
            if queue.trouble is not None:
                queue._look()
            if len(queue):
                group = queue._group()
                self.chaos.at_point(may_be_overtaken=True)
                for task in group:
                    task.settle()
            self.sleep(QUEUE_S)
        member.is_dead = True

    def _switch(self, member: Member) -> None:
        """The thread that carries decisions to switches; what the disk refuses is tried again."""
        while True:
            if member.is_leading:
                try:
                    member.reconciler.tick()
                except DeposedError:
                    return
                except OSError:
                    pass
            self.sleep(self.random.uniform(0.2, 0.6))

    def reap(self, member: Member) -> None:
        """A process has ended: the system takes back what it had open."""
        self.struck(member)
        member.is_dead = True
        for strand in sorted(member.strands, key=lambda each: not each.is_stopped):
            while not strand.is_over:
                self.strand = strand
                strand.step()
        self.strand = None
        member.strands.clear()
        if member.controller is not None and member.controller.leadership.lease is not None:
            os.close(member.controller.leadership.lease._file)
        member.controller = None
        for each in member.opened:
            each.close()
        member.opened.clear()
        member.queue = None

    def struck(self, member: Member) -> None:
        """Something happened to a process: if it led, or was about to, another is to lead soon."""
        is_last = bool(self.reigns) and self.reigns[-1][1] == member.number
        is_begun = not is_last and self.lost_s is not None and member.is_beginning
        if is_begun:
            self._require_soon(member)
        if is_begun or (is_last and self.lost_s is None):
            self.lost_s = self.now_s
        member.ready_s = float("inf") if member.is_dead else max(member.ready_s, member.frozen_s)

    def lose_locks(self, member: Member) -> None:
        """A file server has not heard of a machine for too long."""
        for file in member.locks:
            flock(file, LOCK_UN)
            free(file)
        for each in member.opened:
            if isinstance(each, Seen) and not each._is_closed:
                flock(each._file, LOCK_UN)
            elif isinstance(each, Connection):
                each.lose_locks()

    # What is seen of them

    def point_before(self, what: str) -> None:
        self.chaos.at_point(may_be_overtaken=False)
        if what != "GET":
            self.require_reign(what)

    def require_reign(self, what: str) -> None:
        """Note what a process does that was the last to lead no more."""
        assert self.strand is not None
        number = self.strand.member.number
        if not self.reigns or self.reigns[-1][1] != number:
            self.wrong.append(f"at {self.now_s:.2f} s {what} by process {number}, and {self.reigns[-1:]} leads")
        self.acted = len(self.reigns)

    def committed(self, inner: sqlite3.Connection, is_changed: bool) -> None:
        """A transaction is on disk: by whoever leads, or begins to."""
        assert self.strand is not None
        member = self.strand.member
        if self._term(inner) > len(self.reigns):
            if (took_s := self._require_soon(member)) is not None:
                self.takeovers_s.append(took_s)
            self.reigns.append((self.now_s, member.number))
            self.lost_s = None
        elif is_changed and self.reigns:
            self.require_reign("a write to the journal")

    def _require_soon(self, member: Member) -> float | None:
        """Seconds since nobody leads, of which a process that was well all the time may take few; None of others."""
        if self.lost_s is None or member.ready_s > self.lost_s or self.disk.full_s >= self.lost_s:
            return None
        took_s = self.now_s - self.lost_s
        if took_s > TAKE_OVER_S:
            self.wrong.append(f"process {member.number} had {took_s:.1f} s to take the lead")
        return took_s
