"""Many switches, what goes wrong on them, and what each answers."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from planner.integrations.switch_emulator import bulk_update, mishaps
from planner.integrations.switch_emulator.errors import RestconfError
from planner.integrations.switch_emulator.faults import OF_ITSELF, FaultDraw, FaultKind, FaultRate, Mishap, RequestClass
from planner.integrations.switch_emulator.habits import habits_of
from planner.integrations.switch_emulator.http_messages import HttpRequest, HttpResponse, refused
from planner.integrations.switch_emulator.light import LightInterval
from planner.integrations.switch_emulator.node_tree import MODULE, RPC, VOCABULARIES
from planner.integrations.switch_emulator.restconf import READ, ROOT, Restconf
from planner.integrations.switch_emulator.switch import OpticalSwitch

BOOT_S = 0.05
"""after a restart, until a switch answers again"""
ERRORS = (500, 502, 503, 504)


@dataclass(frozen=True)
class SwitchSpec:
    """A switch to emulate."""

    name: str
    ports: int = 136
    """simplex ports of both sides"""


class Emulator:
    """Answers the requests of all switches."""

    def __init__(
        self,
        specs: Sequence[SwitchSpec],
        *,
        seed: int = 0,
        settling_s: float = 0.003,
        vocabulary: str = "oper_status",
        rates: Sequence[FaultRate] = (),
        clock: Callable[[], float] = time.monotonic,
        has_noise: bool = True,
    ) -> None:
        """`vocabulary`: one of VOCABULARIES; `clock`: seconds, which also time the light; `has_noise`: over TL1,
        messages that nobody asked for, and answers in any order."""
        self.clock = clock
        self.switches = {
            spec.name: OpticalSwitch(
                spec.name, spec.ports, seed=seed, settling_s=settling_s, vocabulary=VOCABULARIES[vocabulary],
                clock=clock,
            )
            for spec in specs
        }  # fmt: skip
        self.faults = {name: FaultDraw(rates, f"{seed}/{name}/faults") for name in self.switches}
        self.happened: list[Mishap] = []
        self.habits = {name: habits_of(seed, name) for name in self.switches}
        self.has_noise = has_noise
        self.starts = dict.fromkeys(self.switches, 0)
        """how often each has started again, which ends its connections"""
        self._servers = {name: Restconf(switch) for name, switch in self.switches.items()}
        self._boots_until = dict.fromkeys(self.switches, -1.0)

    def light(self) -> list[LightInterval]:
        """All light of all switches since they were made."""
        return [interval for switch in self.switches.values() for interval in switch.intervals()]

    def answer(self, name: str, request: HttpRequest) -> HttpResponse | None:
        """What a switch answers over RESTCONF; None where it hangs."""
        with self.switches[name].lock:
            try:
                kind = self.meet(name, _class_of(request))
            except RestconfError as error:
                return refused(error)
            return self._served(name, request, kind)

    def meet(self, name: str, request_class: RequestClass) -> FaultKind | None:
        """What goes wrong at a request, under the lock of its switch: faults of itself are done, one of the answer is
        returned. RestconfError while the switch starts.
        """
        if self.clock() < self._boots_until[name]:
            raise _unavailable("it starts")
        answered = None
        for kind in self.faults[name].at(request_class):
            if kind not in OF_ITSELF:
                answered = kind
                continue
            self.tell(name, kind, mishaps.OF_ITSELF[kind](self.switches[name], self.faults[name].random))
            if kind is FaultKind.RESTART:
                self._boots_until[name] = self.clock() + BOOT_S
                self.starts[name] += 1
                self.habits[name].inactive.clear()
                raise _unavailable("it starts again")
        return answered

    def tell(self, name: str, kind: FaultKind, what: str) -> None:
        """A fault has happened, unless there was nothing it could happen to."""
        if what:
            self.happened.append(Mishap(self.clock(), name, kind, what))

    def _served(self, name: str, request: HttpRequest, kind: FaultKind | None) -> HttpResponse | None:
        server, chance = self._servers[name], self.faults[name].random
        if kind is FaultKind.HALF or kind is FaultKind.LIE:
            self.tell(name, kind, "of a bulk-update")
            return server.answer(request, (bulk_update.half if kind is FaultKind.HALF else bulk_update.lie)(chance))
        if kind is None:
            return server.answer(request)
        is_done = chance.random() < 0.5
        if is_done:
            server.answer(request)
        self.tell(name, kind, f"{request.method} was {'done' if is_done else 'not done'}")
        if kind is FaultKind.HANG:
            return None
        return replace(refused(_unavailable("internal error")), status=chance.choice(ERRORS))


def _class_of(request: HttpRequest) -> RequestClass:
    if request.path.startswith(f"{ROOT}/operations/{MODULE}:{RPC}"):
        return RequestClass.BULK
    return RequestClass.READ if request.method in READ else RequestClass.WRITE


def _unavailable(said: str) -> RestconfError:
    return RestconfError("operation-failed", said, status=503)
