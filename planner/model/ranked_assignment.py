"""The jobs of a plan by rank: where each rank lies and which light joins which ranks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from costmodel.fabrics import FabricBase, Fiber, Lightpath, OcsRail, Route, Sipam
from planner.fabrics.lightpath.routes import Device
from planner.fabrics.lightpath.rwa import Spectrum, bits, wavelengths_of
from planner.fabrics.sipam.switches import switch_setting
from planner.model.cluster import Cluster
from planner.model.errors import InputError
from planner.model.instance import Instance
from planner.model.job import Resident
from planner.model.plan import Assignment, Circuit, HeldCircuits, Plan, SwitchSetting


class RankedCircuit(NamedTuple):
    """Wavelengths as a mask, and the fibers that they take, in order; none inside a server."""

    mask: int
    route: Route

    def is_broken(self, cluster: Cluster, source: Device, destination: Device) -> bool:
        """Whether the light needs a failed fiber, laser or receiver of its ends, or switch of its rail."""
        if isinstance(cluster.fabric, OcsRail):
            return any(rail == source[1] and self.mask >> number & 1 for rail, number in cluster.failed_switches)
        lost = cluster.failed_lasers.get(source, 0) | cluster.failed_receivers.get(destination, 0)
        return bool(self.mask & lost) or not cluster.failed_fibers.isdisjoint(self.route)


class RankedLink(NamedTuple):
    """A circuit from rank to rank, so many wavelengths wide."""

    source: int
    destination: int
    width: int


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

    @cached_property
    def fibers(self) -> frozenset[Fiber]:
        """Fibers that carry light of the job."""
        return frozenset(fiber for held in self.lights for light in held for fiber in light.route)

    def broken(self, cluster: Cluster) -> tuple[frozenset[int], ...]:
        """Positions of circuits whose light needs a failed fiber, laser, receiver or switch, by configuration."""
        switches = frozenset(cluster.health.failed_switches)
        return tuple(
            frozenset(
                i
                for i, (link, beam, circuit) in enumerate(zip(links, beams, held.circuits, strict=True))
                if beam.is_broken(cluster, self.devices[link.source], self.devices[link.destination])
                or not switches.isdisjoint(circuit.fibers)
            )
            for links, beams, held in zip(self.links, self.lights, self.assignment.circuits, strict=True)
        )

    def complete(
        self, light: Spectrum, devices: Sequence[Device], kept: Sequence[Mapping[int, Circuit]]
    ) -> tuple[HeldCircuits, ...] | None:
        """First-fit circuits on these devices beside those that stay; None where first fit fails.

        Where it is free, a circuit starts at the wavelength that it starts at now.
        """
        configurations = [(h.dimension, links) for h, links in zip(self.assignment.circuits, self.links, strict=True)]
        offsets = [[(beam.mask & -beam.mask).bit_length() - 1 for beam in beams] for beams in self.lights]
        return light.complete(configurations, offsets, devices, kept)

    @property
    def num_circuits(self) -> int:
        return sum(map(len, self.links))


def tenant_of(fabric: FabricBase, assignment: Assignment) -> RankedAssignment:
    """A job of a plan by rank; InputError for names that the fabric does not have."""
    try:
        devices = tuple(fabric.parse_device(name) for name in assignment.devices)
        rank = {name: i for i, name in enumerate(assignment.devices)}
        links = tuple(
            tuple(RankedLink(rank[c.source], rank[c.destination], len(set(c.wavelengths))) for c in held.circuits)
            for held in assignment.circuits
        )
        lights = tuple(tuple(_light(fabric, circuit) for circuit in held.circuits) for held in assignment.circuits)
    except KeyError as error:
        raise InputError("plan", assignment.job, f"a circuit ends at {error}, which is none of its devices") from None
    except ValueError as error:
        raise InputError("plan", assignment.job, str(error)) from None
    return RankedAssignment(assignment, devices, links, lights)


def _light(fabric: FabricBase, circuit: Circuit) -> RankedCircuit:
    route = tuple(map(fabric.parse_fiber, circuit.fibers)) if isinstance(fabric, Lightpath) else ()
    return RankedCircuit(bits(circuit.wavelengths), route)


def circuits_of(
    fabric: Lightpath, tenant: RankedAssignment, devices: Sequence[Device], lights: Sequence[Sequence[RankedCircuit]]
) -> tuple[HeldCircuits, ...]:
    """Circuits as a plan writes them, of the ranks of a tenant on other devices and other light."""
    names = [fabric.device_name(*device) for device in devices]
    return tuple(
        HeldCircuits(
            dimension=held.dimension,
            circuits=tuple(_circuit(fabric, names, link, light) for link, light in zip(links, chosen, strict=True)),
        )
        for held, links, chosen in zip(tenant.assignment.circuits, tenant.links, lights, strict=True)
    )


def _circuit(fabric: Lightpath, names: Sequence[str], link: RankedLink, light: RankedCircuit) -> Circuit:
    return Circuit(
        source=names[link.source],
        destination=names[link.destination],
        wavelengths=wavelengths_of(light.mask),
        fibers=tuple(fabric.fiber_name(*fiber) for fiber in light.route),
    )


def plan_of_residents(instance: Instance) -> Plan:
    """What runs now: the residents of an instance as a plan without objectives."""
    assignments = tuple(
        Assignment(job=r.name, configuration=r.configuration, devices=r.devices, circuits=r.circuits, memory=r.memory)
        for r in instance.residents
    )
    return Plan(instance=instance.name, assignments=assignments)


def moved(instance: Instance, assignment: Assignment) -> Assignment:
    """The assignment, said to be moved if it is a resident that does not run as it does now."""
    job = instance.job(assignment.job)
    is_moved = isinstance(job, Resident) and not is_same(
        assignment,
        Assignment(
            job=job.name,
            configuration=job.configuration,
            devices=job.devices,
            circuits=job.circuits,
            memory=job.memory,
        ),
    )
    return assignment if assignment.is_moved == is_moved else assignment.model_copy(update={"is_moved": is_moved})


def is_same(one: Assignment, other: Assignment) -> bool:
    """Whether configuration, devices by rank and circuits agree; the order of circuits does not count."""
    return (
        one.devices == other.devices
        and one.configuration == other.configuration
        and [(held.dimension, held.phase, frozenset(held.circuits)) for held in one.circuits]
        == [(held.dimension, held.phase, frozenset(held.circuits)) for held in other.circuits]
        and frozenset(one.memory) == frozenset(other.memory)
    )


def setting_of(instance: Instance, assignments: Iterable[Assignment]) -> SwitchSetting | None:
    """From what the residents of an instance have on to a plan; None where memory is not pooled."""
    fabric = instance.cluster.fabric
    if not isinstance(fabric, Sipam):
        return None
    phases = {job.name: job.workload.phases for job in instance.all_jobs}
    return switch_setting(fabric, plan_of_residents(instance).assignments, assignments, phases)
