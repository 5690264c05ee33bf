"""Mirrors of one switch: which ports are joined, since when, and whether light passes yet."""

import math
import random
from collections.abc import Callable, Collection
from dataclasses import dataclass

from planner.integrations.switch_emulator.light import CONTROLLER, LightRecord
from planner.integrations.switch_emulator.optics import BLOCKED_SHARE, LEAST_SETTLING, TUNING_LOSS_DB, Optics, decimal
from planner.integrations.switch_emulator.traps import OUTCOMES, AddCase, NewCircuit, OldCircuit

NORMAL = "normal"


@dataclass
class MirrorCircuit:
    """One circuit as the hardware knows it; the configuration may say something else of it since."""

    name: str
    a_side: str
    b_side: str
    status: str
    """enabled, invalid, or disabled where the hardware cannot do it"""
    cause: str
    since_s: float = 0.0
    tuned_s: float = math.inf

    @property
    def ports(self) -> tuple[str, str]:
        return self.a_side, self.b_side


@dataclass
class Hardware:
    """Circuits by name, and what drives each port."""

    ports: Collection[str]
    light: LightRecord
    optics: Optics
    settling_s: float
    clock: Callable[[], float]
    random: random.Random

    def __post_init__(self) -> None:
        self.circuits: dict[str, MirrorCircuit] = {}
        self.driven: dict[str, MirrorCircuit] = {}
        self.overrides: dict[str, str] = {}
        """ports that are forced to be something else than normal"""
        self.stuck: set[str] = set()
        """ports that never tune"""

    def add(self, name: str, a_side: str, b_side: str, *, is_forced: bool, cause: str) -> None:
        """One entry of a request, as the table of traps has it."""
        old = {id(held): held for held in map(self.driven.get, (a_side, b_side)) if held is not None}
        new, others = OUTCOMES[AddCase(name in self.circuits, bool(old), is_forced)]
        if new is NewCircuit.SKIPPED:
            return
        if others is OldCircuit.INVALID:
            for held in old.values():
                self.release(held)
                held.status = "invalid"
        circuit = MirrorCircuit(name, a_side, b_side, new.value, cause)
        self.circuits[name] = circuit
        if not self._can_join(a_side, b_side):
            circuit.status = "disabled"
        elif new is NewCircuit.ENABLED:
            self.join(circuit)

    def delete(self, name: str, cause: str = CONTROLLER) -> None:
        """Nothing where it is not there."""
        circuit = self.circuits.pop(name, None)
        if circuit is not None:
            self.release(circuit, cause)

    def clear(self, cause: str) -> None:
        for name in list(self.circuits):
            self.delete(name, cause)
        self.overrides.clear()

    def override(self, port: str, word: str) -> None:
        """Force a port to be blocked or off, or let it be normal again."""
        if self.overrides.get(port, NORMAL) == word:
            return
        self.overrides.pop(port, None)
        if word != NORMAL:
            self.overrides[port] = word
        circuit = self.driven.get(port)
        if circuit is not None:
            self.release(circuit)
            self.join(circuit)

    def join(self, circuit: MirrorCircuit) -> None:
        """Turn mirrors; light passes when both ports are tuned, unless one is forced."""
        circuit.since_s = self.clock()
        is_stuck = not self.stuck.isdisjoint(circuit.ports)
        takes_s = self.settling_s * self.random.uniform(LEAST_SETTLING, 1.0)
        circuit.tuned_s = math.inf if is_stuck else circuit.since_s + takes_s
        for port in circuit.ports:
            self.driven[port] = circuit
        if not self.is_forced(circuit):
            self.light.put_on(*circuit.ports, circuit.tuned_s, circuit.cause)

    def release(self, circuit: MirrorCircuit, cause: str = CONTROLLER) -> None:
        """Its ports are free, and dark."""
        if self.driven.get(circuit.a_side) is circuit:
            for port in circuit.ports:
                del self.driven[port]
            self.light.put_off(circuit.a_side, self.clock(), cause)

    def is_forced(self, circuit: MirrorCircuit) -> bool:
        return any(port in self.overrides for port in circuit.ports)

    def is_taken_up(self, circuit: MirrorCircuit) -> bool:
        """Whether the drivers of its mirrors are at work: a first share of the settling time it is not."""
        return self.clock() >= circuit.since_s + BLOCKED_SHARE * self.settling_s

    def status(self, circuit: MirrorCircuit) -> str:
        """Enabled as soon as its mirrors are driven, which is before its ports are tuned."""
        if circuit.status != "enabled":
            return circuit.status
        return "disabled" if self.is_forced(circuit) or not self.is_taken_up(circuit) else "enabled"

    def port_state(self, port: str, lit: str) -> str:
        """`lit`: the word of the vocabulary for a port whose light passes."""
        forced = self.overrides.get(port)
        if forced is not None:
            return "blocked" if forced == "force_blocked" else forced
        circuit = self.driven.get(port)
        if circuit is None or not self.is_taken_up(circuit):
            return "blocked"
        return lit if self.clock() >= circuit.tuned_s else "tuning"

    def target(self, port: str) -> str | None:
        """Known as soon as a circuit is applied."""
        circuit = self.driven.get(port)
        if circuit is None:
            return None
        return circuit.b_side if port == circuit.a_side else circuit.a_side

    def loss_db(self, circuit: MirrorCircuit) -> str:
        """Measured: far above the target while its ports tune, and for good where they never do."""
        target = self.optics.measured_db(*circuit.ports)
        if self.clock() >= circuit.tuned_s:
            return decimal(target)
        return decimal(target + TUNING_LOSS_DB)

    def _can_join(self, a_side: str, b_side: str) -> bool:
        """A port of each side that is there."""
        return a_side in self.ports and b_side in self.ports and a_side.endswith("A") and b_side.endswith("B")
