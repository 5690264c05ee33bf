"""The jobs of a plan by rank: where each rank lies and which circuits join which ranks."""

from dataclasses import dataclass

from costmodel.fabrics import FabricBase
from planner.fabrics import plugin_of
from planner.fabrics.free_slots import Device
from planner.fabrics.ranked_circuits import RankedCircuit, RankedLink
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.masks import bits
from planner.model.plan import Assignment


@dataclass(frozen=True)
class RankedAssignment:
    """An assignment whose circuits are counted by rank."""

    assignment: Assignment
    devices: tuple[Device, ...]
    links: tuple[tuple[RankedLink, ...], ...]
    """of each configuration of light, in the order of the plan"""
    lights: tuple[tuple[RankedCircuit, ...], ...]
    """light of each link"""

    @property
    def name(self) -> str:
        return self.assignment.job

    @property
    def block(self) -> int:
        return self.assignment.configuration.block

    def broken(self, cluster: Cluster) -> tuple[frozenset[int], ...]:
        """Positions of circuits whose light needs a failed fiber, laser, receiver or switch, by configuration."""
        switches = frozenset(cluster.health.failed_switches)
        is_broken = plugin_of(cluster.fabric).ranked_circuits.is_broken
        return tuple(
            frozenset(
                i
                for i, (link, beam, circuit) in enumerate(zip(links, beams, held.circuits, strict=True))
                if is_broken(cluster, beam, self.devices[link.source], self.devices[link.destination])
                or not switches.isdisjoint(circuit.fibers)
            )
            for links, beams, held in zip(self.links, self.lights, self.assignment.circuits, strict=True)
        )

    @property
    def num_circuits(self) -> int:
        return sum(map(len, self.links))


def ranked_by(fabric: FabricBase, assignment: Assignment) -> RankedAssignment:
    """A job of a plan by rank; InputError for names that the fabric does not have."""
    route = plugin_of(fabric).ranked_circuits.route
    try:
        devices = tuple(fabric.parse_device(name) for name in assignment.devices)
        rank = {name: i for i, name in enumerate(assignment.devices)}
        links = tuple(
            tuple(RankedLink(rank[c.source], rank[c.destination], len(set(c.wavelengths))) for c in held.circuits)
            for held in assignment.circuits
        )
        lights = tuple(
            tuple(RankedCircuit(bits(circuit.wavelengths), route(fabric, circuit)) for circuit in held.circuits)
            for held in assignment.circuits
        )
    except KeyError as error:
        raise InputError(
            "plan", assignment.job, f"a circuit ends at {error}, which is none of its accelerators"
        ) from None
    except ValueError as error:
        raise InputError("plan", assignment.job, str(error)) from None
    return RankedAssignment(assignment, devices, links, lights)
