"""Parts of pooled racks in the wiring of a job: circuits into memory trays, and uplinks, without their server.

A memory circuit is a wire from a rank to itself on the rail of its port; its route is the port and the units behind it,
such as m2.q3#0 and m2.u5, of the server of the rank. The route of a circuit between servers is, for each rail, an
uplink out of the server of its source and one into that of its destination, such as q9#1 and q9#4. What is on in one
phase of the workload alone stands under dimension/phase.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from costmodel.fabrics import FabricBase, Sipam
from planner.fabrics.claims import Placed
from planner.fabrics.free_slots import Device
from planner.fabrics.placement import Switches
from planner.fabrics.sipam.fast_pool import PoolPart
from planner.fabrics.sipam.server_bits import ServerBits
from planner.fabrics.wiring import MEMORY, Step, Wire, Wiring, WiringNames, key_of, served
from planner.model.cluster import Cluster
from planner.model.masks import numbers_of
from planner.model.plan import HeldCircuits, MemoryCircuit


class SipamWiringNames(WiringNames):
    """Uplinks on the way of a circuit, and memory circuits."""

    def route(self, fabric: FabricBase, wire: Wire, devices: Sequence[Device]) -> Iterator[str]:
        return (f"{fabric.server_name(at)}.{uplink}" for at, uplink in _uplinks(wire, devices))

    def step(self, fabric: FabricBase, number: dict[int, int], name: str) -> Step:
        return _tail(name)

    def pool_units(self, cluster: Cluster) -> list[int]:
        assert isinstance(cluster.fabric, Sipam)
        failed = Counter(server for server, _, _ in cluster.failed_units)
        return [cluster.fabric.units_per_server - failed[server] for server in range(cluster.fabric.num_servers)]

    def memory(
        self, fabric: FabricBase, wiring: Wiring, devices: Sequence[Device], names: Sequence[str]
    ) -> tuple[MemoryCircuit, ...]:
        found = []
        for key, wires in wiring.configurations:
            what, phase = served(key)
            for wire in wires if what == MEMORY else ():
                server = fabric.server_name(devices[wire.source][0])
                port, *units = (f"{server}.{step}" for step in wire.route)
                (rail,) = numbers_of(wire.mask)
                device = names[wire.source]
                circuit = MemoryCircuit(device=device, rail=rail, port=port, units=tuple(units), phase=phase)
                found.append((wire.source, circuit))
        return tuple(circuit for _, circuit in sorted(found, key=lambda each: each[0]))

    def placed(self, job: Placed, devices: Sequence[Device], fabric: FabricBase) -> Wiring:
        return wiring_of(job.circuits, job.memory, devices, fabric)


def wiring_of(
    circuits: tuple[HeldCircuits, ...],
    memory: tuple[MemoryCircuit, ...],
    devices: Sequence[Device],
    fabric: FabricBase,
) -> Wiring:
    """Circuits and memory that first fit named, by rank."""
    rank = {fabric.device_name(*device): number for number, device in enumerate(devices)}
    found = [*SipamWiringNames().wiring(circuits, devices, fabric).configurations]
    for phase in dict.fromkeys(circuit.phase for circuit in memory):
        wires = tuple(
            Wire(rank[c.device], rank[c.device], 1 << c.rail, (_tail(c.port), *map(_tail, c.units)))
            for c in memory
            if c.phase == phase
        )
        found.append((key_of(MEMORY, phase), wires))
    return Wiring(tuple(found))


def parts(wiring: Wiring, devices: Sequence[Device], bits: ServerBits) -> Iterator[tuple[PoolPart, int]]:
    """Server and bit of all that a job holds in its servers."""
    for key, wires in wiring.configurations:
        is_memory = served(key)[0] == MEMORY
        for wire in wires:
            server = devices[wire.source][0]
            steps = ((server, str(step)) for step in wire.route) if is_memory else _uplinks(wire, devices)
            for at, step in steps:
                yield at, _bit_of(bits, step)


def switches(wiring: Wiring, devices: Sequence[Device], fabric: Sipam) -> Switches:
    """(rail, server or rack behind the servers) of every switch that light of a job goes through."""
    found: set[tuple[int, int]] = set()
    for _, wires in wiring.configurations:
        for source, destination, mask, _ in wires:
            here, there = devices[source][0], devices[destination][0]
            numbers = (here,) if here == there else (here, there, fabric.num_servers + fabric.rack_of(here))
            found.update((rail, number) for rail in numbers_of(mask) for number in numbers)
    return frozenset(found)


def _tail(name: str) -> str:
    """A part without its server: of s0.m2.u5 m2.u5, of s0.q9#1 q9#1."""
    head, _, last = name.rpartition(".")
    tray = head.rpartition(".")[2]
    return f"{tray}.{last}" if tray.startswith("m") else last


@lru_cache(maxsize=100_000)
def _bit_of(bits: ServerBits, tail: str) -> int:
    """The bit of a server that a tail names."""
    head, _, last = tail.rpartition(".")
    if last.startswith("u"):
        return bits.field("unit", tray=int(head[1:])).first + int(last[1:])
    rail, number = map(int, last[1:].split("#"))
    field = bits.field("port", tray=int(head[1:]), rail=rail) if head else bits.field("uplink", rail=rail)
    return field.first + number


def _uplinks(wire: Wire, devices: Sequence[Device]) -> Iterator[tuple[int, str]]:
    """Server and tail of each uplink of a circuit, on the way."""
    ends = devices[wire.source][0], devices[wire.destination][0]
    return ((ends[number % 2], str(step)) for number, step in enumerate(wire.route))
