"""Where a job runs and over which circuits: kept by number, named only for those who ask."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple, cast

from costmodel.fabrics import Lightpath, Sipam
from costmodel.parallelism.configuration import Configuration
from planner.fabrics.demand import Dimension
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.lightpath.rwa import bits, wavelengths_of
from planner.model.instance import Job
from planner.model.plan import Assignment, Circuit, HeldCircuits, MemoryCircuit
from planner.placement import pool_attachments
from planner.placement.job_classes import Option

Step = tuple[int, int, int] | str
"""a fiber, its servers counted among those of the job; by name: a fiber of a third server, an optical switch, or a part
of a pooled rack (`plugs`)"""


class Wire(NamedTuple):
    """Light from rank to rank."""

    source: int
    destination: int
    mask: int
    """of wavelengths"""
    route: tuple[Step, ...]


@dataclass(frozen=True)
class Wiring:
    """All circuits of a job by rank and by number of its servers: jobs that lie alike share one."""

    configurations: tuple[tuple[Dimension | str, tuple[Wire, ...]], ...]

    @cached_property
    def text(self) -> str:
        """As the journal writes it."""
        return json.dumps(self.configurations, separators=(",", ":"))

    @cached_property
    def name(self) -> str:
        """Known by its content."""
        return sha256(self.text.encode()).hexdigest()[:24]

    @cached_property
    def beams(self) -> tuple[tuple[tuple[int, int, int], int], ...]:
        """Wavelengths of all configurations by fiber between servers of the job."""
        masks: dict[tuple[int, int, int], int] = {}
        for _, wires in self.configurations:
            for wire in wires:
                for step in wire.route:
                    if not isinstance(step, str):
                        masks[step] = masks.get(step, 0) | wire.mask
        return tuple(masks.items())

    @classmethod
    def parse(cls, text: str) -> "Wiring":
        """What `text` wrote."""
        read: list[Any] = json.loads(text)
        return cls(
            tuple(
                (dimension, tuple(Wire(a, b, m, tuple(s if isinstance(s, str) else tuple(s) for s in r))
                                  for a, b, m, r in wires))
                for dimension, wires in read
            )
        )  # fmt: skip


NO_WIRING = Wiring(())


@dataclass(frozen=True)
class Place:
    """Devices of one job in rank order, its configuration and its circuits."""

    kind: str
    """name of the kind of job"""
    row: Option
    devices: tuple[Device, ...]
    wiring: Wiring

    @cached_property
    def servers(self) -> tuple[int, ...]:
        """Servers in the order in which ranks meet them."""
        return tuple(dict.fromkeys(server for server, _ in self.devices))

    @property
    def configuration(self) -> Configuration:
        """How the job runs."""
        return self.row.options.candidates.configuration(self.row.number)

    @cached_property
    def device_names(self) -> tuple[str, ...]:
        """Devices by rank, such as s3.t0."""
        fabric = self.row.options.fabric
        return tuple(fabric.device_name(*device) for device in self.devices)

    @cached_property
    def circuits(self) -> tuple[HeldCircuits, ...]:
        """Circuits as a plan writes them."""
        entries = [(*pool_attachments.served(key), wires) for key, wires in self.wiring.configurations]
        return tuple(
            HeldCircuits(dimension=cast(Any, dimension), phase=phase, circuits=tuple(map(self._circuit, wires)))
            for dimension, phase, wires in entries
            if dimension != pool_attachments.MEMORY
        )

    @cached_property
    def memory(self) -> tuple[MemoryCircuit, ...]:
        """Memory circuits as a plan writes them, rank after rank; none where memory is local."""
        fabric = self.row.options.fabric
        return pool_attachments.memory(self, fabric) if isinstance(fabric, Sipam) else ()

    @cached_property
    def circuits_json(self) -> list[dict[str, Any]]:
        """Circuits as drivers and clients read them, those into memory last."""
        network = [held.model_dump(mode="json", by_alias=True) for held in self.circuits]
        return [*network, *pool_attachments.memory_json(self.memory)]

    def _circuit(self, wire: Wire) -> Circuit:
        names = self.device_names
        return Circuit(
            source=names[wire.source],
            destination=names[wire.destination],
            wavelengths=wavelengths_of(wire.mask),
            fibers=tuple(self._fibers(wire)),
        )

    def _fibers(self, wire: Wire) -> Iterator[str]:
        """The way of a circuit by name."""
        fabric, servers = self.row.options.fabric, self.servers
        if isinstance(fabric, Sipam):
            yield from (
                f"{fabric.server_name(at)}.{uplink}" for at, uplink in pool_attachments.uplinks(wire, self.devices)
            )
            return
        for step in wire.route:
            if isinstance(step, str):
                yield step
            else:
                assert isinstance(fabric, Lightpath)
                yield fabric.fiber_name(servers[step[0]], servers[step[1]], step[2])

    def assignment(self, job: Job) -> Assignment:
        """The job as it stands in a plan; rows have the value of a job of weight 1."""
        found = self.row.options.assignment(self.row.number, self.device_names, self.circuits, self.memory)
        return found.model_copy(update={"job": job.name, "value": job.weight * found.value})

    def body(self) -> dict[str, Any]:
        """As the journal writes it: devices as server and slot in turn, the wiring by name."""
        flat = [number for device in self.devices for number in device]
        return {"kind": self.kind, "row": self.row.number, "devices": flat, "wiring": self.wiring.name}

    @property
    def num_ports(self) -> int:
        """Optical ports that the job holds."""
        return len(self.devices) if self.wiring.configurations else 0


def wiring_of(circuits: tuple[HeldCircuits, ...], devices: tuple[Device, ...], row: Option) -> Wiring:
    """Circuits that a planner named, by rank and by number of the job's servers."""
    fabric = row.options.fabric
    rank = {fabric.device_name(*device): i for i, device in enumerate(devices)}
    number = {server: i for i, server in enumerate(dict.fromkeys(server for server, _ in devices))}

    def step(name: str) -> Step:
        if not isinstance(fabric, Lightpath):
            return name
        a, b, index = fabric.parse_fiber(name)
        return (number[a], number[b], index) if a in number and b in number else name

    return Wiring(
        tuple(
            (
                held.dimension,
                tuple(
                    Wire(rank[c.source], rank[c.destination], bits(c.wavelengths), tuple(map(step, c.fibers)))
                    for c in held.circuits
                ),
            )
            for held in circuits
        )
    )
