"""Placements by name, as journals, drivers and plans write them; names are found for those who ask."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from costmodel.parallelism.configuration import Configuration
from planner.fabrics import plugin_of
from planner.fabrics.free_slots import Device
from planner.fabrics.job_class import Option
from planner.fabrics.lit import Lit
from planner.fabrics.wiring import MEMORY, Wire, Wiring, memory_json, served, upper_json
from planner.model.job import Job
from planner.model.masks import numbers_of
from planner.model.plan import Assignment, Circuit, HeldCircuits, MemoryCircuit, RackCircuit


@dataclass(frozen=True)
class Place:
    """Where one job runs by name: devices in rank order, its configuration and its circuits; by number: `Placement`."""

    kind: str
    """name of the kind of job"""
    row: Option
    devices: tuple[Device, ...]
    wiring: Wiring
    upper: tuple[RackCircuit, ...] = ()
    """circuits between its racks, where it lies in several that circuits join"""

    @cached_property
    def servers(self) -> tuple[int, ...]:
        """Servers in the order in which ranks meet them."""
        return tuple(dict.fromkeys(server for server, _ in self.devices))

    @cached_property
    def configuration(self) -> Configuration:
        """The configuration of its row."""
        return self.row.options.candidates.configuration(self.row.number)

    @cached_property
    def device_names(self) -> tuple[str, ...]:
        """Devices by rank, such as s3.t0."""
        fabric = self.row.options.fabric
        return tuple(fabric.device_names(self.devices))

    @cached_property
    def circuits(self) -> tuple[HeldCircuits, ...]:
        """Circuits as a plan writes them."""
        entries = [(*served(key), wires) for key, wires in self.wiring.configurations]
        return tuple(
            HeldCircuits(dimension=cast(Any, dimension), phase=phase, circuits=tuple(map(self._circuit, wires)))
            for dimension, phase, wires in entries
            if dimension != MEMORY
        )

    @cached_property
    def memory(self) -> tuple[MemoryCircuit, ...]:
        """Memory circuits as a plan writes them, rank after rank; none where memory is local."""
        fabric = self.row.options.fabric
        return plugin_of(fabric).wiring.memory(fabric, self.wiring, self.devices, self.device_names)

    @cached_property
    def lit(self) -> Lit:
        """Circuits that are on for it in racks, between its accelerators and into memory."""
        return Lit(self.circuits, self.memory)

    @cached_property
    def circuits_json(self) -> list[dict[str, Any]]:
        """Circuits as drivers and clients read them, those into memory last but for those between racks."""
        network = [held.model_dump(mode="json", by_alias=True) for held in self.circuits]
        return [*network, *memory_json(self.memory), *upper_json(self.upper), *self._divided]

    @cached_property
    def _divided(self) -> list[dict[str, Any]]:
        """Partitions of servers that a driver is to make for it."""
        return plugin_of(self.row.options.fabric).divided(self.row, self.device_names)

    def _circuit(self, wire: Wire) -> Circuit:
        names, fabric = self.device_names, self.row.options.fabric
        return Circuit(
            source=names[wire.source],
            destination=names[wire.destination],
            wavelengths=numbers_of(wire.mask),
            fibers=tuple(plugin_of(fabric).wiring.route(fabric, wire, self.devices)),
        )

    def assignment(self, job: Job) -> Assignment:
        """The job as it stands in a plan; rows have the value of a job of weight 1."""
        names = self.device_names
        found = self.row.options.assignment(self.row.number, names, self.circuits, self.memory, self.upper)
        return found.model_copy(update={"job": job.name, "value": job.weight * found.value})

    def body(self) -> dict[str, Any]:
        """As the journal writes it: devices as server and slot in turn, the wiring by name, circuits between racks by
        their ends, what they go over, and wavelengths."""
        flat = [number for device in self.devices for number in device]
        found = {"kind": self.kind, "row": self.row.number, "devices": flat, "wiring": self.wiring.name}
        if self.upper:
            found["upper"] = [[c.source, c.destination, c.over, list(c.wavelengths)] for c in self.upper]
        return found

    @property
    def has_circuits(self) -> bool:
        """True if switches or lasers carry light for it, or it has partitions of servers to itself."""
        return bool(self.wiring.configurations or self.upper or self._divided)

    @property
    def num_ports(self) -> int:
        """Optical ports that the job holds."""
        return len(self.devices) if self.wiring.configurations else 0
