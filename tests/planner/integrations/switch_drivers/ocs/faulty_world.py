"""The driver over emulated switches that fail by seed, on a clock of its own; a referee reads where light went."""

import math
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from json import dumps, loads
from types import SimpleNamespace
from typing import Any, ClassVar, TypeVar
from unittest import mock

import httpx

from planner.integrations.switch_drivers import CircuitError, Circuits, Driver
from planner.integrations.switch_drivers.ocs import converge, gnmi_client, restconf, text_connection
from planner.integrations.switch_drivers.ocs import switch as ocs_switch
from planner.integrations.switch_emulator import (
    Emulator,
    FaultKind,
    FaultRate,
    Finding,
    Holding,
    RequestClass,
    SwitchSpec,
    judge,
)
from planner.integrations.switch_emulator.http_messages import HttpRequest
from planner.integrations.switch_emulator.mishaps import foreign
from planner.integrations.switch_emulator.referee import CrossConnect, FindingKind
from planner.integrations.wiring.cables import CableTable
from planner.integrations.wiring.cross_connects import cross_connects
from planner.model.plan import Assignment
from tests.planner.integrations.switch_drivers.ocs.fake_network import FakeChannel, FakeSocket
from tests.planner.integrations.switch_drivers.ocs.site import Site, circuits_of, path_name, plan_of

JOBS = ("j0", "j1")
GRACE_S = 120.0
"""in which what a switch that failed still has is put off"""
REQUEST_S, TIMEOUT_S = 0.0005, 0.4
UNTOLD = ("openconfig", "scpi")
"""protocols in which nobody can tell that a circuit of others, which came between a reading and the change that
followed, was pushed out; there such circuits come at readings"""
KINDS = [kind for kind in FaultKind if kind != FaultKind.FOREIGN]
"""at requests; circuits of others come between the calls of the driver: one that comes between a reading and the
transaction that follows is pushed out by the switch itself, which `ControlledWorld` sees to"""


T = TypeVar("T")


class Killed(BaseException):
    """The process has ended."""


@dataclass
class FaultySwitches:
    """Emulated switches in place of a network, on a clock of their own, that fail at requests."""

    site: Site
    seed: int
    rate: float
    """of each kind of fault, at each request"""
    now_s: float = 100.0
    kills_in: float = math.inf
    """requests until the process is killed"""
    counts: Counter[str] = field(default_factory=Counter)
    kinds: ClassVar[list[FaultKind]] = [*FaultKind]

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        is_untold = self.site.protocol in UNTOLD
        rates = [
            FaultRate(each, kind, self.rate)
            for each in RequestClass
            for kind in self.kinds
            if kind != FaultKind.FOREIGN or each == RequestClass.READ or not is_untold
        ]
        specs = [SwitchSpec(name, len(switch.ports)) for name, switch in self.site.switches.items()]
        self.emulator = Emulator(specs, seed=self.seed, rates=rates, clock=lambda: self.now_s)
        self.name_of = {path_name(name): name for name in self.site.switches}

    def asked(self, ask: Callable[[], T], what: str = "") -> T:
        """What one request to the emulator gives; `what`: its method over HTTP."""
        self.point_before(what)
        self.now_s += REQUEST_S
        return ask()

    def handle(self, name: str, request: HttpRequest) -> "Answer":
        """One request over HTTP, of a switch as addresses name it."""
        found = self.asked(lambda: self.emulator.answer(self.name_of[name], request), request.method)
        if found is None:
            self.sleep(TIMEOUT_S)
            raise httpx.ReadTimeout("timed out")
        return Answer(found.status, found.body)

    def point(self) -> None:
        """A place where the process may be killed, and then is at all later ones."""
        self.kills_in -= 1
        if self.kills_in < 0:
            raise Killed

    def point_before(self, what: str) -> None:
        """The same right before something is done outside of the process: a request, by its method, or `write`."""
        self.point()

    def sleep(self, time_s: float) -> None:
        self.now_s += time_s


@dataclass(frozen=True)
class Answer:
    """In place of `httpx.Response`."""

    status_code: int
    content: bytes

    @property
    def is_success(self) -> bool:
        return httpx.codes.is_success(self.status_code)

    @property
    def reason_phrase(self) -> str:
        return httpx.codes.get_reason_phrase(self.status_code)

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return loads(self.content)


class EmulatorClient:
    """In place of `httpx.Client`: asks the emulator of a world, without a network."""

    def __init__(self, world: FaultySwitches, headers: dict[str, str]) -> None:
        self._world, self._headers = world, {key.lower(): value for key, value in headers.items()}

    def request(self, method: str, url: httpx.URL, json: Any, headers: dict[str, str], auth: None) -> "Answer":
        before, mark, after = url.path.partition("/restconf/")
        name, path = before.rpartition("/")[2], mark + after
        given = self._headers | {key.lower(): value for key, value in headers.items()}
        body = b"" if json is None else dumps(json).encode()
        return self._world.handle(name, HttpRequest(method, path, given, body, ""))

    def close(self) -> None:
        pass


@dataclass
class World(FaultySwitches):
    """Jobs of one plan that come and go, by the driver alone."""

    held: list[Holding] = field(default_factory=list)
    since: dict[str, tuple[float, float | None]] = field(default_factory=dict)
    """by job that is to have its circuits: from when, and when it started"""
    strange: dict[str, str] = field(default_factory=dict)
    """circuit of others by switch"""
    kinds = KINDS

    def __post_init__(self) -> None:
        super().__post_init__()
        self.circuits = {job: self.ports_of(plan_of(self.site.kind)[1][job]) for job in JOBS}

    def ports_of(self, assignment: Assignment) -> frozenset[CrossConnect]:
        """What switches join for a job."""
        instance, plan = plan_of(self.site.kind)
        alone = plan.model_copy(update={"assignments": (assignment,)})
        found = cross_connects(instance, alone, CableTable.of(instance.cluster.fabric))
        return frozenset((switch, c.a_side, c.b_side) for switch, joined in found.items() for c in joined)

    def run(self, steps: int) -> list[Finding]:
        """All that was wrong by a request of the driver. Whose a circuit is that others set with the name and ports of
        one of ours, while this is put off, nobody can tell."""
        driver = self.site.driver()
        for _ in range(steps):
            self.sleep(self.random.uniform(0.1, 2.0))
            self.kills_in = self.random.choice([math.inf, math.inf, math.inf, self.random.randrange(60)])
            self._mend()
            try:
                self._step(driver)
            except Killed:
                self.counts["killed"] += 1
                driver = self.site.driver()
        for job in [*self.since]:
            self._give_up(job, math.inf)
        found = judge(self.emulator.light(), self.held, now_s=self.now_s, grace_s=GRACE_S)
        ours = set[tuple[str, str, str]]().union(*self.circuits.values())
        taken = [e for e in found if e.kind == FindingKind.TAKEN and (e.switch, e.a_side, e.b_side) in ours]
        return [each for each in found if each.is_by_request and each not in taken]

    def _mend(self) -> None:
        """Operators mend ports and take their own circuits away; others set some."""
        for name, switch in self.emulator.switches.items():
            if self.random.random() < 0.5:
                switch.hardware.stuck.clear()
                gone = self.strange.pop(name, "")
                if gone in switch.circuits:
                    switch.hardware.delete(gone, FaultKind.FOREIGN)
                    del switch.circuits[gone]
        name = self.random.choice([*self.emulator.switches])
        if name not in self.strange and self.random.random() < 0.3:
            appeared = foreign(self.emulator.switches[name], self.random).partition(" ")[0]
            self.strange.update({name: appeared} if appeared else {})

    def _step(self, driver: Driver) -> None:
        began_s = self.now_s
        for job in driver.applied():
            if job not in self.since:
                self._try("left", lambda job=job: driver.release(job))
        action = self.random.choice(["change", "change", "resync", "check"])
        if action == "resync":
            self._try("resync", driver.resync)
        elif action == "check":
            for job in [*self.since]:
                self._connect(driver, job)
        else:
            self._change(driver, self.random.choice(JOBS))
        for job in [*self.since]:
            if job not in driver.applied():
                self._give_up(job, began_s if self.since[job][1] else self.now_s)

    def _change(self, driver: Driver, job: str) -> None:
        """A job comes or goes."""
        if job not in self.since:
            self.since[job] = self.now_s, None
            self._connect(driver, job)
        else:
            self._give_up(job, self.now_s)
            self._try("release", lambda: driver.release(job))

    def _wanted(self, job: str) -> Circuits:
        """Circuits that a job is to have."""
        return circuits_of(self.site.kind, job)

    def _connect(self, driver: Driver, job: str) -> None:
        if self._try("connect", lambda: driver.connect(job, self._wanted(job))):
            from_s, started_s = self.since[job]
            self.since[job] = from_s, started_s or self.now_s

    def _give_up(self, job: str, until_s: float) -> None:
        from_s, started_s = self.since.pop(job)
        self.held.append(Holding(job, self.circuits[job], from_s, until_s, started_s))

    def _try(self, action: str, call: object) -> bool:
        try:
            call()  # type: ignore[operator]
        except CircuitError:
            self.counts[f"{action} failed"] += 1
            return False
        self.counts[action] += 1
        return True


@contextmanager
def faulty(world: FaultySwitches) -> Iterator[None]:
    """A world in place of the network and the clock."""
    site = world.site
    path, clock = site.path, SimpleNamespace(monotonic=lambda: world.now_s, sleep=world.sleep)
    path.write_text(path.read_text().replace("settle: 20 s", "settle: 2 s"))
    with (
        mock.patch.object(restconf.httpx, "Client", lambda headers, **_: EmulatorClient(world, headers)),
        mock.patch.object(text_connection, "opened", lambda host, *_: FakeSocket(world, host)),
        mock.patch.object(gnmi_client, "_channel", return_value=FakeChannel(world)),
        mock.patch.object(ocs_switch, "time", clock),
        mock.patch.object(ocs_switch, "random", SimpleNamespace(uniform=random.Random(world.seed).uniform)),
        mock.patch.object(converge, "time", clock),
        mock.patch.object(text_connection, "time", clock),
    ):
        yield
