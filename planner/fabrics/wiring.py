"""Circuits of a job by rank and by number of its servers, as a journal writes them.

An entry of a wiring serves a dimension, all phases or one of them: dimension/phase. Under `memory` stand circuits into
a pool, each a wire from a rank to itself.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, NamedTuple

from costmodel.fabrics import FabricBase
from planner.fabrics.claims import Placed
from planner.fabrics.demand import Served
from planner.fabrics.free_slots import Device
from planner.model.cluster import Cluster
from planner.model.masks import bits
from planner.model.plan import Circuit, HeldCircuits, MemoryCircuit, RackCircuit

Step = tuple[int, int, int] | str
"""a fiber, its servers counted among those of the job; by name: a fiber of a third server, an optical switch, or a part
of a pooled rack"""
MEMORY = "memory"
"""what memory circuits serve, where others serve a dimension"""
BETWEEN_RACKS = "racks"
"""what circuits of the layer above racks serve"""


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

    configurations: tuple[tuple[Served | str, tuple[Wire, ...]], ...]

    @cached_property
    def text(self) -> str:
        """As the journal writes it."""
        return json.dumps(self.configurations, separators=(",", ":"))

    @cached_property
    def name(self) -> str:
        """Known by its content."""
        return sha256(self.text.encode()).hexdigest()[:24]

    @cached_property
    def fiber_masks(self) -> tuple[tuple[tuple[int, int, int], int], ...]:
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
        """The wiring that `text` wrote."""
        read: list[Any] = json.loads(text)
        return cls(
            tuple(
                (dimension, tuple(Wire(a, b, m, tuple(s if isinstance(s, str) else tuple(s) for s in r))
                                  for a, b, m, r in wires))
                for dimension, wires in read
            )
        )  # fmt: skip


NO_WIRING = Wiring(())


def served(key: str) -> tuple[str, str | None]:
    """Dimension, or memory, and phase of an entry of a wiring; None: in all phases."""
    dimension, _, phase = key.partition("/")
    return dimension, phase or None


def key_of(dimension: str, phase: str | None) -> str:
    """The entry of a wiring that `served` reads."""
    return dimension if phase is None else f"{dimension}/{phase}"


class WiringNames:
    """Names of what wires go through; as given here, routes are kept by name."""

    def route(self, fabric: FabricBase, wire: Wire, devices: Sequence[Device]) -> Iterator[str]:
        """The way of a circuit by name; `devices` are those of the job in rank order."""
        for step in wire.route:
            assert isinstance(step, str)
            yield step

    def step(self, fabric: FabricBase, number: dict[int, int], name: str) -> Step:
        """The step of a route that a name stands for; `number` counts the servers of the job."""
        return name

    def memory(
        self, fabric: FabricBase, wiring: Wiring, devices: Sequence[Device], names: Sequence[str]
    ) -> tuple[MemoryCircuit, ...]:
        """Memory circuits as a plan writes them, rank after rank; `names` are those of the devices."""
        return ()

    def pool_units(self, cluster: Cluster) -> list[int] | None:
        """Memory units that work, by server; None where memory is local."""
        return None

    def placed(self, job: Placed, devices: Sequence[Device], fabric: FabricBase) -> Wiring:
        """All circuits of a job that a planner named, on these devices."""
        return self.wiring(job.circuits, devices, fabric)

    def wiring(self, circuits: tuple[HeldCircuits, ...], devices: Sequence[Device], fabric: FabricBase) -> Wiring:
        """Circuits that a planner named, by rank and by number of the job's servers."""
        rank = {fabric.device_name(*device): i for i, device in enumerate(devices)}
        number = {server: i for i, server in enumerate(dict.fromkeys(server for server, _ in devices))}

        def wire(source: str, destination: str, wavelengths: Sequence[int], names: Sequence[str]) -> Wire:
            steps = tuple(self.step(fabric, number, name) for name in names)
            return Wire(rank[source], rank[destination], bits(wavelengths), steps)

        return Wiring(
            tuple(
                (
                    key_of(held.dimension, held.phase),
                    tuple(wire(c.source, c.destination, c.wavelengths, c.fibers) for c in held.circuits),
                )
                for held in circuits
            )
        )


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


def upper_json(circuits: Sequence[RackCircuit]) -> Iterator[dict[str, Any]]:
    """Circuits between racks as drivers read circuits, on the way over their switch or fiber; through a switch all
    light of a port is one wavelength."""
    if circuits:
        lit = [
            Circuit(source=c.source, destination=c.destination, wavelengths=c.wavelengths or (0,), fibers=(c.over,))
            for c in circuits
        ]
        yield {"dimension": BETWEEN_RACKS, "circuits": [each.model_dump(mode="json", by_alias=True) for each in lit]}
