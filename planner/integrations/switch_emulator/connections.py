"""Connections by pairs of ports alone, for protocols in which they have no names of their own."""

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum

from planner.integrations.switch_emulator.switch import OpticalSwitch, Row

Pair = tuple[str, str]
"""port of side A, port of side B"""


class BusyPort(StrEnum):
    """What becomes of a connection at a port of another one, where the sources of a protocol are silent."""

    REFUSE = "refuse"
    """nothing of the request is done"""
    FORCE = "force"
    """the old one goes"""


class LightState(StrEnum):
    """What became of a connection that is configured."""

    LIT = "lit"
    MOVING = "moving"
    """its mirrors are on their way"""
    BROKEN = "broken"
    """a port never tunes, is off, or its mirror stands elsewhere"""


class BusyPortError(Exception):
    """A port has another connection."""


def row_of(pair: Pair) -> Row:
    return {"cross_connect_id": name_of(pair), "a_side": pair[0], "b_side": pair[1]}


def name_of(pair: Pair) -> str:
    return f"{pair[0]}-{pair[1]}"


def pairs_of(switch: OpticalSwitch) -> dict[str, Pair]:
    """Configured connections by name."""
    return {name: (row.get("a_side", ""), row.get("b_side", "")) for name, row in switch.circuits.items()}


def named(switch: OpticalSwitch, pairs: Iterable[Pair]) -> list[str]:
    """Names of those of these connections that are configured."""
    by_pair = {pair: name for name, pair in pairs_of(switch).items()}
    return [by_pair[pair] for pair in pairs if pair in by_pair]


def at_ports(switch: OpticalSwitch, ports: Iterable[str]) -> list[str]:
    """Names of connections that have one of these ports."""
    wanted = set(ports)
    return [name for name, pair in pairs_of(switch).items() if wanted & {*pair}]


def change_for(
    switch: OpticalSwitch, deletes: Sequence[str], pairs: Sequence[Pair], busy: BusyPort
) -> tuple[list[str], list[Row]]:
    """Names that go, and rows that come, so that these pairs are connected. One that is there stays as it is, with
    light or without. BusyPortError where a port is named twice, or has another connection and is not to lose it."""
    taken = [port for pair in pairs for port in pair]
    if len(set(taken)) < len(taken):
        raise BusyPortError("a port is named twice")
    there = {pair for name, pair in pairs_of(switch).items() if name not in deletes}
    new = [pair for pair in pairs if pair not in there]
    others = [name for name in at_ports(switch, (port for pair in new for port in pair)) if name not in deletes]
    if others and busy is BusyPort.REFUSE:
        raise BusyPortError(f"{', '.join(others)} is in the way")
    return [*deletes, *others], [row_of(pair) for pair in new]


def condition(switch: OpticalSwitch, name: str) -> LightState:
    """Of a configured connection; of what the hardware knows, the tables of other protocols show no more."""
    hardware, pair = switch.hardware, pairs_of(switch)[name]
    circuit = hardware.circuits.get(name)
    if circuit is None or circuit.status != "enabled" or circuit.ports != pair or hardware.is_forced(circuit):
        return LightState.BROKEN
    if math.isinf(circuit.tuned_s):
        return LightState.BROKEN
    return LightState.LIT if switch.clock() >= circuit.tuned_s else LightState.MOVING


def broken_ports(switch: OpticalSwitch) -> set[str]:
    """Ports whose mirrors do not stand where they should: stuck ones, and else both of a broken connection."""
    found = set(switch.hardware.stuck)
    for name, pair in pairs_of(switch).items():
        if condition(switch, name) is LightState.BROKEN and not found & {*pair}:
            found |= {port for port in pair if port not in switch.hardware.overrides}
    return found


def settled_s(switch: OpticalSwitch) -> float:
    """When the last mirror that moves, and comes to rest, has done so."""
    moving = (circuit.tuned_s for circuit in switch.hardware.circuits.values() if math.isfinite(circuit.tuned_s))
    return max(moving, default=0.0)
