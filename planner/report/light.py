"""What circuits and memory of each fabric are called, and what each circuit goes through."""

from collections.abc import Sequence
from typing import Any

from costmodel.fabrics import DividedPorts, FabricBase, Lightpath, MemoryNodeRings, OcsRail, Sipac, Sipam, Torus
from costmodel.parallelism.configuration import Configuration
from planner.model.instance import Instance
from planner.model.plan import Assignment, Circuit

Place = tuple[int, int]
"""(server, slot)"""
INSIDE, BEYOND = "inside", "beyond"
"""whether a circuit stays in its server without a part of the network, or goes over one"""


def light_words(fabric: FabricBase) -> dict[str, Any]:
    """Names for what circuits use: `channels` are what a circuit has one or more of, the wider its line; `inside` and
    `beyond` are None for what does not occur; duplex circuits have no direction; `why` there are no circuits."""
    words: dict[str, Any] = {
        "channels": None,
        "columns": [],
        "inside": None,
        "beyond": None,
        "is_duplex": False,
        "why": "",
    }
    if isinstance(fabric, Lightpath):
        words |= {"channels": "wavelengths", "columns": ["from", "to", "wavelengths", "fibers", "loss"]}
        words |= {"inside": "circuit inside a server", "beyond": "circuit over a fiber"}
    elif isinstance(fabric, OcsRail):
        words |= {"channels": "switches", "columns": ["from", "to", "switches"]}
        words |= {"beyond": "circuit between servers, over switches of its rail"}
    elif isinstance(fabric, Sipam):
        words |= {"channels": "rails", "columns": ["from", "to", "rails", "uplinks"]}
        words |= {"inside": "circuit inside a server", "beyond": "circuit between servers, over uplinks"}
    elif isinstance(fabric, Torus) and fabric.switches is not None:
        words |= {"channels": "circuits", "columns": ["face of", "joined to face of", "switch"], "is_duplex": True}
        words |= {"beyond": "faces joined by an optical switch"}
    else:
        words |= {"why": _why_none(fabric)}
    return words


def _why_none(fabric: FabricBase) -> str:
    if isinstance(fabric, Torus):
        return "Links between neighbours are fixed: this fabric has no circuits."
    if isinstance(fabric, Sipac):
        return "A slice has the switch ports of its digits to itself: plans list no circuits."
    if isinstance(fabric, DividedPorts):
        return "How many ports reach memory is planned, not which; packets are switched: plans list no circuits."
    if isinstance(fabric, MemoryNodeRings):
        return "Links of nodes and to memory nodes are fixed, packets go between nodes: this fabric has no circuits."
    return "Packets are switched: this fabric has no circuits."


def circuit_told(instance: Instance, circuit: Circuit) -> dict[str, Any]:
    """A circuit in words: where it lies, how wide it is, lines for people and cells under `columns`."""
    fabric = instance.cluster.fabric
    kind, lines, cells = _told(instance, circuit)
    between = f"{circuit.source} {'↔' if isinstance(fabric, Torus) else '→'} {circuit.destination}"
    return {
        "source": circuit.source,
        "destination": circuit.destination,
        "kind": kind,
        "width": len(circuit.wavelengths),
        "lines": [between, *lines],
        "cells": [circuit.source, circuit.destination, *cells],
    }


def _told(instance: Instance, circuit: Circuit) -> tuple[str, list[str], list[str]]:
    fabric, fibers = instance.cluster.fabric, ", ".join(circuit.fibers)
    source, destination = (place_of(instance, end) for end in (circuit.source, circuit.destination))
    if isinstance(fabric, OcsRail):
        rail = "?" if source is None else str(source[1])
        names = ", ".join(f"q{rail}#{number}" for number in circuit.wavelengths)
        return BEYOND, [f"over {_counted(circuit, 'switch', 'switches')} of rail q{rail}: {names}"], [names]
    if isinstance(fabric, Torus):
        return BEYOND, [f"both ways through the optical switch {fibers}"], [fibers or "–"]
    is_inside = source is not None and destination is not None and source[0] == destination[0] and not circuit.fibers
    kind = INSIDE if is_inside else BEYOND
    if isinstance(fabric, Sipam):
        rails = ranges(circuit.wavelengths)
        way = "inside the server" if is_inside else f"uplinks {fibers or 'unknown'}"
        return kind, [f"{_counted(circuit, 'rail', 'rails')}: {rails}", way], [rails, fibers or "–"]
    loss = loss_db(instance, circuit)
    budget = fabric.loss_budget_db if isinstance(fabric, Lightpath) else None
    most = "" if budget is None else f" of {budget:.4g} dB"
    way = "inside the server" if is_inside else f"fiber{'s' * (len(circuit.fibers) > 1)} {fibers or 'unknown'}"
    wavelengths = ranges(circuit.wavelengths)
    lines = [f"{_counted(circuit, 'wavelength', 'wavelengths')}: {wavelengths}", way]
    lines.append("loss unknown: no such path" if loss is None else f"loss {loss:.4g} dB{most}")
    return kind, lines, [wavelengths, fibers or "–", "–" if loss is None else f"{loss:.4g} dB"]


def _counted(circuit: Circuit, one: str, many: str) -> str:
    number = len(circuit.wavelengths)
    return f"{number} {one if number == 1 else many}"


def loss_db(instance: Instance, circuit: Circuit) -> float | None:
    """Loss on the whole path of a circuit; None where the fabric has no such path."""
    fabric = instance.cluster.fabric
    source, destination = (place_of(instance, end) for end in (circuit.source, circuit.destination))
    if not isinstance(fabric, Lightpath) or source is None or destination is None:
        return None
    try:
        route = fabric.route(source[0], circuit.fibers, destination[0])
    except ValueError:
        return None
    return fabric.loss_db(len(fabric.crossed(source, route, destination)), len(route))


def place_of(instance: Instance, device: str) -> Place | None:
    """Server and slot of a device; None for one that does not exist."""
    try:
        return instance.cluster.fabric.parse_device(device)
    except ValueError:
        return None


def memory_text(fabric: FabricBase, configuration: Configuration) -> str | None:
    """What each device of a job has of memory that is not its own; None where it has all of its own."""
    largest = max(configuration.by_phase, key=lambda phase: phase.memory_units or 0)
    units, ports = largest.memory_units, largest.memory_io
    if not units:
        return None
    unit, port = ("module", "optical port") if isinstance(fabric, DividedPorts) else ("unit", "I/O")
    return f"{units} {unit}{'s' * (units > 1)} for each device, over {ports} of its {port}s"


def memory_rows(assignment: Assignment) -> list[list[str]]:
    """Memory circuits of a job: device, rail, port of the tray, units behind it, and the phase in which it is on."""
    return [
        [each.device, str(each.rail), each.port, ", ".join(each.units), each.phase or "all"]
        for each in assignment.memory
    ]


def ranges(numbers: Sequence[int]) -> str:
    """Numbers with runs of consecutive ones joined: 0-3, 6."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)
