"""The part of a plug-in that reads the circuits of a job by rank."""

from typing import NamedTuple

from costmodel.fabrics import FabricBase, Route
from planner.fabrics.free_slots import Device
from planner.model.cluster import Cluster
from planner.model.plan import Circuit


class RankedCircuit(NamedTuple):
    """Wavelengths as a mask, and the fibers that they take, in order; none inside a server."""

    mask: int
    route: Route


class RankedLink(NamedTuple):
    """A circuit from rank to rank, so many wavelengths wide."""

    source: int
    destination: int
    width: int


class RankedCircuits:
    """Circuits without a route over fibers; they need the lasers and receivers of their ends, where there are any."""

    def route(self, fabric: FabricBase, circuit: Circuit) -> Route:
        """Fibers of a circuit, in order; ValueError for a name that the fabric does not have."""
        return ()

    def is_broken(self, cluster: Cluster, circuit: RankedCircuit, source: Device, destination: Device) -> bool:
        """True if a circuit between two devices needs a failed laser or receiver, or another failed part."""
        lost = cluster.failed_lasers.get(source, 0) | cluster.failed_receivers.get(destination, 0)
        return bool(circuit.mask & lost)
