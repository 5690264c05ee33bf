"""Circuits by rank through the optical switches of rails."""

from planner.fabrics.free_slots import Device
from planner.fabrics.ranked_circuits import RankedCircuit, RankedCircuits
from planner.model.cluster import Cluster


class OcsRailRankedCircuits(RankedCircuits):
    """The numbers of a circuit are those of switches of the rail of its slot."""

    def is_broken(self, cluster: Cluster, circuit: RankedCircuit, source: Device, destination: Device) -> bool:
        return any(rail == source[1] and circuit.mask >> number & 1 for rail, number in cluster.failed_switches)
