"""Circuits that a running job has on."""

from collections.abc import Collection
from dataclasses import dataclass

from planner.model.plan import Circuit, HeldCircuits, MemoryCircuit


@dataclass(frozen=True)
class Lit:
    """Those between its accelerators in one rack, and those into memory; false where there are none."""

    circuits: tuple[HeldCircuits, ...] = ()
    memory: tuple[MemoryCircuit, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.memory) or any(held.circuits for held in self.circuits)

    @property
    def by_phase(self) -> set[tuple[str | None, Circuit | MemoryCircuit]]:
        """What is on, whatever it serves, by the phase in which it is."""
        between = {(held.phase, circuit) for held in self.circuits for circuit in held.circuits}
        return between.union((plug.phase, plug) for plug in self.memory)

    def among(self, names: Collection[str]) -> "Lit":
        """Those between these accelerators, and of their memory, by configuration."""
        held = tuple(each.model_copy(update={"circuits": _between(names, each)}) for each in self.circuits)
        found = Lit(held, tuple(plug for plug in self.memory if plug.device in names))
        return found if found else NOTHING_LIT


NOTHING_LIT = Lit()


def _between(names: Collection[str], held: HeldCircuits) -> tuple[Circuit, ...]:
    return tuple(each for each in held.circuits if each.source in names and each.destination in names)
