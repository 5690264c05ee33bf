"""Parts of pooled racks in the wiring of a place: circuits into memory trays, and uplinks, without their server.

A memory circuit is a wire from a rank to itself on the rail of its port; its route is the port and the units behind it,
such as m2.q3#0 and m2.u5, of the server of the rank. The route of a circuit between servers is, for each rail, an
uplink out of the server of its source and one into that of its destination, such as q9#1 and q9#4. What is on in one
phase of the workload alone stands under dimension/phase.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from costmodel.fabrics import Sipam
from planner.fabrics.lightpath.routes import Device, Waveguide
from planner.fabrics.lightpath.rwa import wavelengths_of
from planner.model.plan import Circuit, MemoryCircuit

if TYPE_CHECKING:
    from planner.placement.placement import Place, Wire

MEMORY = "memory"
"""what memory circuits serve, where others serve a dimension"""
Part = tuple[str, int, int, int]
"""(unit, tray, 0, number), (port, tray, rail, number) or (uplink, rail, 0, number) of a server"""


def served(key: str) -> tuple[str, str | None]:
    """Dimension, or memory, and phase of an entry of a wiring; None: in all phases."""
    dimension, _, phase = key.partition("/")
    return dimension, phase or None


def key_of(dimension: str, phase: str | None) -> str:
    """What `served` reads."""
    return dimension if phase is None else f"{dimension}/{phase}"


def tail(name: str) -> str:
    """A part without its server: of s0.m2.u5 m2.u5, of s0.q9#1 q9#1."""
    head, _, last = name.rpartition(".")
    tray = head.rpartition(".")[2]
    return f"{tray}.{last}" if tray.startswith("m") else last


@lru_cache(maxsize=100_000)
def part_of(name: str) -> Part:
    """The part that a tail names."""
    head, _, last = name.rpartition(".")
    if last.startswith("u"):
        return "unit", int(head[1:]), 0, int(last[1:])
    rail, number = map(int, last[1:].split("#"))
    return ("port", int(head[1:]), rail, number) if head else ("uplink", rail, 0, number)


def uplinks(wire: "Wire", devices: Sequence[Device]) -> Iterator[tuple[int, str]]:
    """Server and tail of each uplink of a circuit, on the way."""
    ends = devices[wire.source][0], devices[wire.destination][0]
    return ((ends[number % 2], str(step)) for number, step in enumerate(wire.route))


def parts(place: "Place") -> Iterator[tuple[Waveguide, int]]:
    """Part and number of all that a place holds in its servers, as `planner.fabrics.sipam.fast_pool` counts them."""
    for key, wires in place.wiring.configurations:
        is_memory = served(key)[0] == MEMORY
        for wire in wires:
            server = place.devices[wire.source][0]
            steps = ((server, str(step)) for step in wire.route) if is_memory else uplinks(wire, place.devices)
            for at, step in steps:
                kind, one, two, number = part_of(step)
                yield (kind, at, one, two), number


def switches(place: "Place", fabric: Sipam) -> frozenset[tuple[int, int]]:
    """(rail, server or zone) of every switch that light of a place goes through."""
    found: set[tuple[int, int]] = set()
    for _, wires in place.wiring.configurations:
        for source, destination, mask, _ in wires:
            here, there = place.devices[source][0], place.devices[destination][0]
            numbers = (here,) if here == there else (here, there, fabric.num_servers + fabric.rack_of(here))
            found.update((rail, number) for rail in wavelengths_of(mask) for number in numbers)
    return frozenset(found)


def memory(place: "Place", fabric: Sipam) -> tuple[MemoryCircuit, ...]:
    """Memory circuits as a plan writes them, rank after rank."""
    found = []
    for key, wires in place.wiring.configurations:
        what, phase = served(key)
        for wire in wires if what == MEMORY else ():
            server = fabric.server_name(place.devices[wire.source][0])
            port, *units = (f"{server}.{step}" for step in wire.route)
            (rail,) = wavelengths_of(wire.mask)
            device = place.device_names[wire.source]
            circuit = MemoryCircuit(device=device, rail=rail, port=port, units=tuple(units), phase=phase)
            found.append((wire.source, circuit))
    return tuple(circuit for _, circuit in sorted(found, key=lambda each: each[0]))


def memory_json(circuits: Sequence[MemoryCircuit]) -> Iterator[dict[str, Any]]:
    """Memory circuits as drivers read circuits: light both ways between accelerator and port, phase by phase."""
    for phase in dict.fromkeys(circuit.phase for circuit in circuits):
        ways = [
            Circuit(source=ends[0], destination=ends[1], wavelengths=(circuit.rail,))
            for circuit in circuits
            if circuit.phase == phase
            for ends in ((circuit.device, circuit.port), (circuit.port, circuit.device))
        ]
        lit = [way.model_dump(mode="json", by_alias=True) for way in ways]
        yield {"dimension": MEMORY, **({} if phase is None else {"phase": phase}), "circuits": lit}
