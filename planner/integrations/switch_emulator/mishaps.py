"""What a switch does by itself, and what it does halfway: the faults, on one switch."""

import random
from collections.abc import Callable, Sequence

from planner.integrations.switch_emulator.faults import FaultKind
from planner.integrations.switch_emulator.switch import OpticalSwitch, Row
from planner.integrations.switch_emulator.traps import FEWEST_FORCED


def restart(switch: OpticalSwitch, chance: random.Random) -> str:
    """Everything that was configured is lost."""
    lost = len(switch.circuits)
    switch.start(FaultKind.RESTART)
    return f"{lost} circuits lost"


def drop(switch: OpticalSwitch, chance: random.Random) -> str:
    """A circuit without light: half of them are still configured."""
    names = [name for name, circuit in switch.hardware.circuits.items() if circuit.status == "enabled"]
    if not names:
        return ""
    name = chance.choice(names)
    if chance.random() < 0.5:
        switch.hardware.delete(name, FaultKind.DROP)
        switch.circuits.pop(name, None)
        return f"{name} is gone"
    circuit = switch.hardware.circuits[name]
    switch.hardware.release(circuit, FaultKind.DROP)
    circuit.status = "disabled"
    return f"{name} is dark"


def change(switch: OpticalSwitch, chance: random.Random) -> str:
    """The mirror of its side B stands on another free port; its configuration still says the old one."""
    names = [name for name, circuit in switch.hardware.circuits.items() if circuit.status == "enabled"]
    free = _free(switch, "B")
    if not names or not free:
        return ""
    circuit = switch.hardware.circuits[chance.choice(names)]
    switch.hardware.release(circuit, FaultKind.CHANGE)
    was, circuit.b_side = circuit.b_side, chance.choice(free)
    circuit.cause = FaultKind.CHANGE
    switch.hardware.join(circuit)
    return f"{circuit.name} leads to {circuit.b_side}, not {was}"


def foreign(switch: OpticalSwitch, chance: random.Random) -> str:
    """Somebody else has used two free ports."""
    a_sides, b_sides = _free(switch, "A"), _free(switch, "B")
    if not a_sides or not b_sides:
        return ""
    a_side, b_side = chance.choice(a_sides), chance.choice(b_sides)
    name = f"{a_side}-{b_side}"
    if name in switch.circuits:
        return ""
    switch.apply((), [{"cross_connect_id": name, "a_side": a_side, "b_side": b_side}], FaultKind.FOREIGN)
    return f"{name} appears"


def untuned(switch: OpticalSwitch, chance: random.Random) -> str:
    """One port never reaches its target again."""
    port = chance.choice(switch.ports)
    switch.hardware.stuck.add(port)
    circuit = switch.hardware.driven.get(port)
    if circuit is not None:
        switch.hardware.release(circuit, FaultKind.UNTUNED)
        switch.hardware.join(circuit)
    return f"{port} never tunes"


OF_ITSELF: dict[FaultKind, Callable[[OpticalSwitch, random.Random], str]] = {
    FaultKind.RESTART: restart,
    FaultKind.DROP: drop,
    FaultKind.CHANGE: change,
    FaultKind.FOREIGN: foreign,
    FaultKind.UNTUNED: untuned,
}
"""each says what it did; nothing where there was nothing to do it to"""


def half(
    switch: OpticalSwitch, deletes: Sequence[str], adds: Sequence[Row], chance: random.Random
) -> tuple[int, int, list[str]]:
    """A prefix of a bulk-update is done: deleted, added, and the names that failed."""
    steps = len(deletes) + len(adds)
    done = chance.randrange(steps) if steps else 0
    few, more = deletes[:done], adds[: max(done - len(deletes), 0)]
    counts = switch.apply(few, more, is_forced=len(adds) >= FEWEST_FORCED)
    return (*counts, [*deletes[len(few) :], *(row["cross_connect_id"] for row in adds[len(more) :])])


def _free(switch: OpticalSwitch, side: str) -> list[str]:
    return [port for port in switch.ports if port.endswith(side) and port not in switch.hardware.driven]
