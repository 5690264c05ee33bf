"""The part of a plug-in that names and draws what jobs hold: circuits, the memory of a pool, fibers in use."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from costmodel.fabrics import FabricBase
from costmodel.parallelism.configuration import Configuration
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Circuit, Plan
from planner.model.result import Result

Place = tuple[int, int]
"""(server, slot)"""
INSIDE, BEYOND = "inside", "beyond"
"""whether a circuit stays in its server without a part of the network, or goes over one"""
NO_CIRCUITS: dict[str, Any] = {
    "channels": None,
    "columns": [],
    "inside": None,
    "beyond": None,
    "is_duplex": False,
    "why": "",
}


class Drawing:
    """Servers joined by packets: jobs hold devices, and neither circuits nor memory of a pool."""

    has_memory_circuits: ClassVar[bool] = False
    """whether jobs hold circuits to memory"""
    memory_unit: ClassVar[str] = "unit"
    """of memory that is not a device's own"""
    memory_port: ClassVar[str] = "I/O"
    """through which a device reaches it"""
    why_none: ClassVar[str] = "Packets are switched: this fabric has no circuits."
    """said where the circuits of other fabrics are drawn"""
    arrow: ClassVar[str] = "→"
    """from end to end of a circuit"""

    def names(self, fabric: FabricBase) -> dict[str, Any]:
        """Names for what circuits use: `channels` are what a circuit has one or more of, the wider its line; `inside`
        and `beyond` are None for what does not occur; duplex circuits have no direction; `why` there are no circuits.
        """
        return NO_CIRCUITS | {"why": self.why_none}

    def circuit(self, cluster: Cluster, circuit: Circuit) -> dict[str, Any]:
        """A circuit in words: where it lies, how wide it is, lines for people and cells under `columns`."""
        kind, lines, cells = self.path(cluster, circuit)
        return {
            "source": circuit.source,
            "destination": circuit.destination,
            "kind": kind,
            "width": len(circuit.wavelengths),
            "lines": [f"{circuit.source} {self.arrow} {circuit.destination}", *lines],
            "cells": [circuit.source, circuit.destination, *cells],
        }

    def path(self, cluster: Cluster, circuit: Circuit) -> tuple[str, list[str], list[str]]:
        """INSIDE or BEYOND, lines for people, and the cells after both ends; what a file may claim of any circuit."""
        numbers, parts = ranges(circuit.wavelengths), ", ".join(circuit.fibers)
        lines = [f"{counted(circuit, 'channel', 'channels')}: {numbers}", parts or "through no part of the network"]
        return side_of(cluster, circuit), lines, [numbers, parts or "–"]

    def switches(self, fabric: FabricBase, circuit: Circuit) -> list[str]:
        """Names of the switches that channels of a circuit are numbers of; none where channels are wavelengths."""
        return []

    def memory_text(self, configuration: Configuration) -> str | None:
        """What each device of a job has of memory that is not its own; None where it has all of its own."""
        largest = max(configuration.by_phase, key=lambda phase: phase.memory_units or 0)
        units, ports = largest.memory_units, largest.memory_io
        if not units:
            return None
        unit = f"{self.memory_unit}{'s' * (units > 1)}"
        tier = largest.tier_units
        behind = f", {tier} unit{'s' * (tier > 1)} of a second tier behind" if tier else ""
        return f"{units} {unit} for each accelerator, over {ports} of its {self.memory_port}s{behind}"

    def fiber_matrices(
        self, instance: Instance, plan: Plan | None, index_of_job: Mapping[str, int]
    ) -> list[dict[str, Any]]:
        """For each rack, the wavelengths in use between each ordered pair of servers; [] where there are no fibers."""
        return []

    def own_view(self, cluster: Cluster) -> dict[str, Any] | None:
        """The shape of what only this kind of fabric has, for the picture beside the floor plan; `kind` names the
        picture. None where the floor plan says it all."""
        return None

    def pool_gains(
        self, instance: Instance, result: Result, jobs: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any] | None:
        """What a pool of memory gave each job; None where memory is not pooled, or there is no plan."""
        return None


def side_of(cluster: Cluster, circuit: Circuit) -> str:
    """INSIDE where both ends lie in one server and the circuit passes no part of the network, else BEYOND."""
    source, destination = (place_of(cluster, end) for end in (circuit.source, circuit.destination))
    if source is None or destination is None or source[0] != destination[0] or circuit.fibers:
        return BEYOND
    return INSIDE


def place_of(cluster: Cluster, device: str) -> Place | None:
    """Server and slot of a device; None for one that does not exist."""
    try:
        return cluster.fabric.parse_device(device)
    except ValueError:
        return None


def counted(circuit: Circuit, one: str, many: str) -> str:
    """2 wavelengths, of a circuit that has two channels"""
    number = len(circuit.wavelengths)
    return f"{number} {one if number == 1 else many}"


def ranges(numbers: Sequence[int]) -> str:
    """Numbers with runs of consecutive ones joined: 0-3, 6."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)
