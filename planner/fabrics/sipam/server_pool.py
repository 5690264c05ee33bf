"""What is free in one server with pooled memory."""

from dataclasses import dataclass
from typing import NamedTuple

from costmodel.fabrics import Sipam
from planner.fabrics.sipam.demand import PoolDemand
from planner.model.cluster import Cluster

Device = tuple[int, int]
"""(server, slot)"""
Plug = tuple[int, int, int]
"""one memory circuit of a rank: (rail, tray, number of units)"""


class FreeCounts(NamedTuple):
    """How many units and ports are free in one server: what first fit decides by."""

    units: list[int]
    """by tray"""
    ports: dict[int, list[int]]
    """by tray, for each local rail whose switch works"""
    spine: int
    """spine rails whose switch in this server works"""


@dataclass(frozen=True)
class FreeServer:
    """What is free in one server."""

    units: list[list[int]]
    """numbers of free units by tray"""
    ports: dict[int, list[list[int]]]
    """numbers of free ports by tray, for each local rail whose switch works"""
    spine: tuple[int, ...]
    """spine rails whose switch in this server works"""
    uplinks: dict[int, list[int]]
    """numbers of free uplinks for each spine rail that works in this server and in its zone"""

    def copy(self) -> "FreeServer":
        """The same to take from, which leaves this one as it is."""
        units, ports = list(map(list, self.units)), {rail: list(map(list, each)) for rail, each in self.ports.items()}
        return FreeServer(units, ports, self.spine, {rail: list(free) for rail, free in self.uplinks.items()})

    @property
    def counts(self) -> FreeCounts:
        ports = {rail: list(map(len, trays)) for rail, trays in self.ports.items()}
        return FreeCounts(list(map(len, self.units)), ports, len(self.spine))

    @property
    def num_units(self) -> int:
        return sum(map(len, self.units))

    def num_ports(self, rail: int) -> int:
        """Free ports of a local rail."""
        return sum(map(len, self.ports[rail]))

    def room(self, demand: PoolDemand) -> int:
        """Ranks with memory units that units and ports, each for itself, allow."""
        ports = sum(self.num_ports(rail) for rail in self.ports)
        return min(self.num_units // demand.units, ports // demand.memory_io)


def rack_of(cluster: Cluster, server: int) -> FreeServer:
    """A server with nothing placed."""
    fabric = cluster.fabric
    assert isinstance(fabric, Sipam)
    trays, zone = range(fabric.trays_per_server), fabric.num_servers + fabric.rack_of(server)
    works = [(rail, server) not in cluster.failed_switches for rail in range(fabric.num_io)]
    spine = [rail for rail in range(fabric.local_rails, fabric.num_io) if works[rail]]
    return FreeServer(
        units=[
            [u for u in range(fabric.units_per_tray) if (server, tray, u) not in cluster.failed_units] for tray in trays
        ],
        ports={
            rail: [
                [p for p in range(fabric.tray_ports) if (server, tray, rail, p) not in cluster.failed_tray_ports]
                for tray in trays
            ]
            for rail in range(fabric.local_rails)
            if works[rail]
        },
        spine=tuple(spine),
        uplinks={
            rail: [i for i in range(fabric.uplinks) if (server, rail, i) not in cluster.failed_uplinks]
            for rail in spine
            if (rail, zone) not in cluster.failed_switches
        },
    )
