"""An emulated lightpath: a command of the site sets its light, fails by seed, and light goes by itself."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from random import Random
from typing import Any

from planner.integrations.switch_emulator import Finding, Holding
from planner.integrations.switch_emulator.light import CONTROLLER, LightInterval, LightRecord
from planner.integrations.switch_emulator.referee import CrossConnect, FindingKind

MOMENT_S = 1e-6
"""for which light is on that a command lies about"""
RACK = re.compile(r"r\d+")
"""that sends over fibers to others, with lasers of its own for each"""
ARRIVAL = " arrives"
"""ends the name of a circuit where it is the other end"""
Answer = tuple[int, str, str]
"""exit code and output of a command"""


def name_of(circuit: dict[str, Any]) -> CrossConnect:
    """Server or rack that sends, and both ends of a circuit as JSON has it."""
    text, sends = json.dumps(circuit, sort_keys=True), str(circuit["from"])
    return sends.rpartition(".")[0] or sends, text, text + ARRIVAL


class LightRack:
    """Light by the server that sends it: what is on, whatever commands answer."""

    def __init__(self, seed: int, rate: float, clock: Callable[[], float]) -> None:
        """`rate`: of each kind of fault, at each command."""
        self._random, self._rate, self._clock = Random(f"light {seed}"), rate, clock
        self._undoing = Random(f"undoing {seed}")
        self._records: dict[str, LightRecord] = {}
        self._on: dict[CrossConnect, dict[str, Any]] = {}
        self._term = 0
        self.happened: list[str] = []
        self.is_well = False
        """nothing fails any more"""

    def lit(self) -> set[CrossConnect]:
        return set(self._on)

    def light(self) -> list[LightInterval]:
        """Where light went until now."""
        return [each for record in self._records.values() for each in record.intervals(self._clock())]

    def answer(self, body: dict[str, Any]) -> Answer | None:
        """What a command says that is given this; None where it says nothing in time."""
        if body.get("term", self._term) < self._term:
            return 1, "", "another controller leads"
        self._term = body.get("term", self._term)
        self._change_by_itself()
        circuits = [circuit for held in body["circuits"] for circuit in held["circuits"]]
        if body["action"] == "report":
            return (1, "", "no answer") if self._strikes("error") else (0, self._report(), "")
        return (self._connect if body["action"] == "connect" else self._release)(circuits)

    def _report(self) -> str:
        return json.dumps({"circuits": [*self._on.values()]})

    def _connect(self, circuits: Sequence[dict[str, Any]]) -> Answer | None:
        """A command that refuses has set nothing; what another one that hung has put on it may leave so, or not."""
        if circuits and self._strikes("part"):
            self._undo(circuits)
            return 1, json.dumps({"part": _part(self._random.choice(circuits)), "said": "no light"}), ""
        if self._strikes("error"):
            self._undo(circuits)
            return 1, "", "refused"
        if self._strikes("hang"):
            self._put_on(circuits if self._random.random() < 0.5 else ())
            return None
        if self._strikes("half"):
            self._put_on(circuits[: len(circuits) // 2])
            return None
        self._put_on(circuits)
        if circuits and self._strikes("lie"):
            self._put_off([circuits[-1]], "lie")
        return 0, "", ""

    def _undo(self, circuits: Sequence[dict[str, Any]]) -> None:
        if self._undoing.random() < 0.5:
            self._put_off(circuits, CONTROLLER)

    def _release(self, circuits: Sequence[dict[str, Any]]) -> Answer | None:
        if self._strikes("error"):
            self._put_off(circuits[: self._random.randint(0, len(circuits))], CONTROLLER)
            return 1, "", "some may be left"
        if self._strikes("hang"):
            self._put_off(circuits[: self._random.randint(0, len(circuits))], CONTROLLER)
            return None
        self._put_off(circuits, CONTROLLER)
        return 0, "", ""

    def _change_by_itself(self) -> None:
        """A server begins anew without light, or a circuit goes."""
        if self._on and self._strikes("restart"):
            server = self._random.choice(sorted({name[0] for name in self._on}))
            self._put_off([each for name, each in self._on.items() if name[0] == server], "restart")
        if self._on and self._strikes("drop"):
            self._put_off([self._on[self._random.choice(sorted(self._on))]], "drop")

    def _strikes(self, what: str) -> bool:
        if self.is_well or self._random.random() >= self._rate:
            return False
        self.happened.append(what)
        return True

    def _put_on(self, circuits: Iterable[dict[str, Any]]) -> None:
        for each in circuits:
            name = name_of(each)
            if name not in self._on:
                self._on[name] = each
                record = self._records.setdefault(name[0], LightRecord(name[0]))
                record.put_on(*name[1:], self._clock() - MOMENT_S, CONTROLLER)

    def _put_off(self, circuits: Iterable[dict[str, Any]], ended_by: str) -> None:
        for each in circuits:
            name = name_of(each)
            if self._on.pop(name, None) is not None:
                self._records[name[0]].put_off(name[1], self._clock(), ended_by)


def shared(light: Sequence[LightInterval], holdings: Sequence[Holding], now_s: float) -> Iterator[Finding]:
    """Light that met other light at a laser, a receiver or in a fiber, on one wavelength, while a job ran on that."""
    parts_of = {each.a_side: set(_parts(each.a_side)) for each in light}
    for holding in holdings:
        if holding.started_s is None:
            continue
        own = {name for each in holdings if each.job == holding.job for _, name, _ in each.circuits}
        mine = {part for _, name, _ in holding.circuits for part in _parts(name)}
        for each in light:
            since, until = max(each.from_s, holding.started_s), min(each.until_s, holding.until_s, now_s)
            if since < until and each.a_side not in own and mine & parts_of[each.a_side]:
                jobs = (holding.job,)
                yield Finding(FindingKind.SHARED, each.switch, each.a_side, each.b_side, jobs, since, until, each.cause)


def _parts(name: str) -> Iterator[tuple[str, str, int]]:
    """What light of a circuit is alone in: part, direction and wavelength."""
    circuit = json.loads(name)
    is_between_racks = RACK.fullmatch(circuit["from"])
    for wavelength in circuit["wavelengths"]:
        if not is_between_racks:
            yield "sends", circuit["from"], wavelength
            yield "receives", circuit["to"], wavelength
        yield from (("fiber", fiber, wavelength) for fiber in circuit["fibers"])


def _part(circuit: dict[str, Any]) -> str:
    """What a command says is broken where it cannot make a circuit."""
    sends = circuit["from"]
    return str(circuit["fibers"][0] if RACK.fullmatch(sends) else f"{sends}:port")
