"""Users, nodes and operators: they ask whoever leads, and ask again under the same key until they are answered."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Protocol

from planner.controller import Controller, Move, Request
from planner.model.edit import edited
from planner.model.errors import InputError, UnwrittenError
from planner.service.command_queue import BusyError, Command, StoppingError
from tests.planner.controller.sites import request
from tests.simulation.referee import Answer, Told
from tests.simulation.strands import Member

PATIENCE_S = 4.0
"""for an answer, until another controller is asked"""
AGAIN_S = 0.3
MOST_ASKS = 2
"""of one elastic job"""
NOT_RUNNING = ("waits and has not started",)
REFUSED = {
    "grow": ("it goes on as it is", "submit it anew to have it larger", "asks for no more"),
    "shrink": ("it goes on with all that it has",),
}
"""what may be said of jobs that run: others have what is asked for, circuits stand in the way, or one has grown in the
queue meanwhile"""
Call = Callable[[Member], Any]


class Network(Protocol):
    """What clients know of the world."""

    random: Random
    now_s: float
    members: list[Member]
    wrong: list[str]


@dataclass
class Client:
    """One who asks one thing after the other."""

    network: Network
    wakes_s: float = 0.0
    answers: list[Answer] = field(default_factory=list)
    number: int = 0
    _call: tuple[str, Call, Callable[[int, Any], None]] | None = None
    _future: "Future[Any] | None" = None
    _began_s: float = 0.0
    _asked_s: float = 0.0
    _member: int = 0

    @property
    def is_idle(self) -> bool:
        return self._call is None

    def ask(self, key: str, call: Call, on_answer: Callable[[int, Any], None]) -> None:
        """Have a call made once; `on_answer` is told how many events there were then, and the outcome."""
        assert self.is_idle
        self._call, self._future, self._began_s = (key, call, on_answer), None, self.network.now_s

    def act(self) -> None:
        """Look whether there is an answer; send again where there is none."""
        self.wakes_s = self.network.now_s + self.network.random.uniform(0.1, 0.4)
        if self._call is None:
            self.decide()
            if self._call is None:
                return
        if self._future is None:
            self._send()
        elif self._future.done():
            self._hear(self._future)
        elif self.network.now_s > self._asked_s + PATIENCE_S:
            self._turn_away()

    def decide(self) -> None:
        """Ask for something, or not."""

    def _turn_away(self) -> None:
        """Ask another one soon."""
        self._future = None
        self._member += 1
        self.wakes_s = self.network.now_s + AGAIN_S

    def _send(self) -> None:
        assert self._call is not None
        members = [each for each in self.network.members if each.queue is not None]
        if not members:
            return
        member = members[self._member % len(members)]
        call, self._future, self._asked_s = self._call[1], Future(), self.network.now_s
        if member.is_dead or not member.is_leading:
            self._turn_away()
            return

        def both(controller: Controller) -> tuple[Any, int]:
            outcome = call(member)
            return outcome, controller.seq

        try:
            member.queue.put(Command(both, self._future, self.network.now_s))  # type: ignore[arg-type]
        except (BusyError, StoppingError):
            self._turn_away()
            return
        member.wake("queue", self.network.now_s)

    def _hear(self, future: "Future[Any]") -> None:
        assert self._call is not None
        key, _, on_answer = self._call
        error = future.exception()
        if isinstance(error, UnwrittenError | BusyError | StoppingError | RuntimeError):
            self._turn_away()
            return
        self._call = None
        if isinstance(error, InputError):
            self.network.wrong.append(f"{key or 'a question'} was refused: {error}")
            return
        assert error is None, repr(error)
        outcome, seq = future.result()
        if key and outcome is not None:
            bodies = [decision.body() for decision in outcome]
            self.answers.append(Answer(key, seq, bodies, self._began_s, self.network.now_s))
        on_answer(seq, outcome)


@dataclass
class User(Client):
    """Submits one job after the other, and gives each back when it has run."""

    name: str = ""
    sizes: tuple[int, ...] = (16,)
    asks: Callable[[str, int], Request] = request
    """for a job of a name and size"""
    job: str = ""
    ends_s: float | None = None
    """when the job is done; None before it runs"""
    told: list[Told] = field(default_factory=list)
    is_resting: bool = False
    """it changes nothing"""
    is_leaving: bool = False
    """it ends what it has"""
    done: int = 0

    def decide(self) -> None:
        random = self.network.random
        if not self.job:
            if not (self.is_leaving or self.is_resting) and random.random() < 0.5:
                self._submit()
        elif self.is_leaving or (not self.is_resting and self.ends_s is None and random.random() < 0.02):
            self._end("cancel")
        elif not self.is_resting and self.ends_s is not None and self.network.now_s > self.ends_s:
            self._end("finish")
        else:
            self.ask("", self._look_at, self._heard)

    def _submit(self) -> None:
        self.number += 1
        self.job = f"{self.name}{self.number}"
        wanted = self.asks(self.job, self.network.random.choice(self.sizes))
        key = f"submit {self.job}"
        self.ask(key, lambda member: member.controller.submit(wanted, key=key), lambda seq, found: None)

    def _end(self, how: str) -> None:
        key, job = f"{how} {self.job} {self.number}", self.job
        self.number += 1

        def end(member: Member) -> Any:
            controller = member.controller
            is_running = job in controller.running
            if how == "finish" and not is_running and controller._durable.journal.known(key) is None:
                return None
            return (controller.finish if how == "finish" else controller.cancel)(job, key=key)

        def gone(seq: int, found: Any) -> None:
            self.ends_s = None
            if found is not None:
                self.job, self.done = "", self.done + 1

        self.ask(key, end, gone)

    def _look_at(self, member: Member) -> tuple[tuple[str, ...], bool, float]:
        """Where the job runs, if it does, whether its light is on, and when that was so."""
        place = member.controller.running.get(self.job)
        is_on = place is not None and member.reconciler.connected(self.job, place) is not False
        return (() if place is None else place.device_names), is_on, self.network.now_s

    def _heard(self, seq: int, found: tuple[tuple[str, ...], bool, float]) -> None:
        devices, is_on, said_s = found
        if not devices:
            self.ends_s = None
        elif is_on and not self.is_leaving:
            self.told.append(Told(self.job, seq, devices, self._asked_s, self.network.now_s, said_s))
            if self.ends_s is None:
                self.ends_s = self.network.now_s + self.network.random.uniform(2.0, 15.0)


@dataclass
class ElasticUser(User):
    """Has jobs inside a server, without circuits at first, that ask for half of what they have, or for twice as much,
    before they end."""

    sizes: tuple[int, ...] = (8, 4)
    most: int = 32
    """accelerators that a job may ask for"""
    resized: Counter[str] = field(default_factory=Counter)
    """jobs that became smaller, larger, and that wait to grow: how often"""
    _of: str = ""
    _asks: int = 0
    """of this job"""
    _wanted: tuple[Request, tuple[str, ...], bool] | None = None
    """the last time that it asked, the accelerators that it is sure to have after that, and whether it waits for
    more"""

    def decide(self) -> None:
        if self._of != self.job:
            self._of, self._asks = self.job, 0
        runs_on = self.ends_s is not None and not (self.is_resting or self.is_leaving)
        if not self.job or not runs_on or self._asks == MOST_ASKS:
            super().decide()
            return
        self._asks, self._wanted = self._asks + 1, None
        how = self.network.random.choice(("shrink", "grow"))
        key = f"{how} {self.job} {self._asks}"
        self.ask(key, lambda member: self._resize(how, key, member.controller), partial(self._has_resized, how))

    def _resize(self, how: str, key: str, controller: Controller) -> Any:
        """The same is asked again until it is answered. What a job that has lost its place meanwhile had may not be its
        own any more; circuits and what others have may stand in the way."""
        place = controller.running.get(self.job)
        if self._wanted is None:
            if place is None or len(place.devices) == (1 if how == "shrink" else self.most):
                return None
            kept = place.device_names[: len(place.devices) // 2] if how == "shrink" else place.device_names
            size = len(kept) if how == "shrink" else min(2 * len(kept), self.most)
            wanted = edited(controller.job(self.job).request, accelerators=size)
            self._wanted = wanted, kept, self.network.random.random() < 0.5
        wanted, kept, waits = self._wanted
        if controller._durable.journal.known(key) is None and (
            place is None or place.device_names[: len(kept)] != kept
        ):
            return None
        try:
            if how == "shrink":
                return controller.shrink(wanted, kept, key=key)
            return controller.grow(wanted, waits=waits, key=key)
        except InputError as error:
            may = NOT_RUNNING if place is None else REFUSED[how] if how == "grow" or place.has_circuits else ()
            if not any(text in str(error) for text in may):
                raise
            return None

    def _has_resized(self, how: str, seq: int, found: Any) -> None:
        moves = any(each.job == self.job and isinstance(each, Move) for each in found or ())
        self.resized[how if moves else "wait"] += found is not None


@dataclass
class Operator(Client):
    """Tells of parts that fail, and of all that works again."""

    parts: tuple[str, ...] = ()
    chance: float = 0.05
    """at each look, that something fails"""
    is_mending: bool = False

    def decide(self) -> None:
        random = self.network.random
        self.number += 1
        key = f"operator {self.number}"
        if self.is_mending or random.random() < 0.3:
            self.ask("", lambda member: [member.controller.repair(part) for part in member.controller.down], _nothing)
        elif random.random() < self.chance:
            part = random.choice(self.parts)
            self.ask(key, lambda member: member.controller.fail(part, key=key), _nothing)


def _nothing(seq: int, found: Any) -> None:
    """There is nothing to do about it."""
