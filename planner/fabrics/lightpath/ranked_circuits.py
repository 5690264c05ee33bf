"""Circuits by rank over fibers, and as a plan writes them on other devices or other light."""

from collections.abc import Mapping, Sequence

from costmodel.fabrics import FabricBase, Lightpath, Route
from planner.fabrics.free_slots import Device
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.ranked_assignment import RankedAssignment
from planner.fabrics.ranked_circuits import RankedCircuit, RankedCircuits, RankedLink
from planner.model.cluster import Cluster
from planner.model.masks import numbers_of
from planner.model.plan import Circuit, HeldCircuits


class LightpathRankedCircuits(RankedCircuits):
    """Circuits on wavelengths of fibers."""

    def route(self, fabric: FabricBase, circuit: Circuit) -> Route:
        assert isinstance(fabric, Lightpath)
        return tuple(map(fabric.parse_fiber, circuit.fibers))

    def is_broken(self, cluster: Cluster, circuit: RankedCircuit, source: Device, destination: Device) -> bool:
        is_dark = super().is_broken(cluster, circuit, source, destination)
        return is_dark or not cluster.failed_fibers.isdisjoint(circuit.route)


def completed(
    job: RankedAssignment, spectrum: Spectrum, devices: Sequence[Device], kept: Sequence[Mapping[int, Circuit]]
) -> tuple[HeldCircuits, ...] | None:
    """First-fit circuits of a job on these devices beside those that it keeps; None where first fit fails.

    Where it is free, a circuit starts at the wavelength that it starts at now.
    """
    configurations = [(h.dimension, links) for h, links in zip(job.assignment.circuits, job.links, strict=True)]
    offsets = [[(beam.mask & -beam.mask).bit_length() - 1 for beam in beams] for beams in job.lights]
    return spectrum.complete(configurations, offsets, devices, kept)


def circuits_of(
    fabric: Lightpath, job: RankedAssignment, devices: Sequence[Device], lights: Sequence[Sequence[RankedCircuit]]
) -> tuple[HeldCircuits, ...]:
    """Circuits as a plan writes them, of the ranks of a job on other devices and other light."""
    names = fabric.device_names(devices)
    return tuple(
        HeldCircuits(
            dimension=held.dimension,
            circuits=tuple(_circuit(fabric, names, link, light) for link, light in zip(links, chosen, strict=True)),
        )
        for held, links, chosen in zip(job.assignment.circuits, job.links, lights, strict=True)
    )


def _circuit(fabric: Lightpath, names: Sequence[str], link: RankedLink, light: RankedCircuit) -> Circuit:
    return Circuit(
        source=names[link.source],
        destination=names[link.destination],
        wavelengths=numbers_of(light.mask),
        fibers=tuple(fabric.fiber_name(*fiber) for fiber in light.route),
    )
