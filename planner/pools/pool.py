"""Racks with pooled memory while jobs are placed: free units, ports and uplinks, and circuits over them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from costmodel.fabrics import Sipam
from planner.cluster import Cluster
from planner.demand import Shape
from planner.plan import Assignment, HeldCircuits, MemoryCircuit
from planner.pools.circuits import Network, held_circuits
from planner.pools.demand import PoolDemand, pool_demand

Device = tuple[int, int]
"""(server, slot)"""
Plug = tuple[int, int, int]
"""one memory circuit of a rank: (rail, tray, number of units)"""


@dataclass(frozen=True)
class Rack:
    """What is free in one server."""

    units: list[list[int]]
    """numbers of free units by tray"""
    ports: dict[int, list[list[int]]]
    """numbers of free ports by tray, for each local rail whose switch works"""
    spine: tuple[int, ...]
    """spine rails whose switch in this server works"""
    uplinks: dict[int, list[int]]
    """numbers of free uplinks for each spine rail that works in this server and in its zone"""

    @property
    def num_units(self) -> int:
        return sum(map(len, self.units))

    def num_ports(self, rail: int) -> int:
        """Free ports of a local rail."""
        return sum(map(len, self.ports[rail]))

    def room(self, demand: PoolDemand) -> int:
        """Ranks that units and ports, each for itself, allow."""
        ports = sum(self.num_ports(rail) for rail in self.ports)
        return min(self.num_units // demand.units, ports // demand.memory_io)


class Pool:
    """All servers of a cluster with pooled memory."""

    def __init__(self, cluster: Cluster) -> None:
        assert isinstance(cluster.fabric, Sipam)
        self.fabric: Sipam = cluster.fabric
        self.racks = [_rack(cluster, server) for server in range(cluster.fabric.num_servers)]

    def take(self, assignment: Assignment) -> None:
        """Take the units, ports and uplinks of an assignment; ValueError where one is not free."""
        for circuit in assignment.memory:
            server, tray, rail, index = self.fabric.parse_tray_port(circuit.port)
            rack = self.racks[server]
            rack.ports[rail][tray].remove(index)
            for name in circuit.units:
                rack.units[tray].remove(self.fabric.parse_unit(name)[2])
        names = {name for held in assignment.circuits for c in held.circuits for name in c.fibers}
        for name in names:
            server, rail, index = self.fabric.parse_uplink(name)
            self.racks[server].uplinks[rail].remove(index)

    def connect(
        self, shape: Shape, devices: Sequence[Device]
    ) -> tuple[tuple[HeldCircuits, ...], tuple[MemoryCircuit, ...]] | None:
        """Circuits of a job on its devices by first fit, and what they need is taken; None where it is not free."""
        demand, ranks = pool_demand(shape), by_server(devices)
        network = self._network(demand, ranks)
        if network is None:
            return None
        plugs: dict[int, list[list[Plug]]] = {}
        for server, here in ranks.items():
            allowed = [rail for rail in self.racks[server].ports if rail not in network.inside[server]]
            found = first_fit(self.racks[server], demand, len(here), allowed, self.fabric.port_units)
            if found is None:
                return None
            plugs[server] = found
        return self.commit(shape, devices, network, plugs)

    def commit(
        self, shape: Shape, devices: Sequence[Device], network: Network, plugs: Mapping[int, list[list[Plug]]]
    ) -> tuple[tuple[HeldCircuits, ...], tuple[MemoryCircuit, ...]]:
        """Name and take what a job was given: rails and uplinks, and plugs of each rank by server."""
        for server, rails in network.uplinks.items():
            for rail, numbers in rails.items():
                free = self.racks[server].uplinks[rail]
                free[:] = [number for number in free if number not in numbers]
        memory: dict[Device, list[MemoryCircuit]] = {}
        for server, here in by_server(devices).items():
            for device, plugged in zip(here, plugs[server], strict=True):
                memory[device] = [self._plug(device, plug) for plug in plugged]
        circuits = held_circuits(self.fabric, shape, devices, network)
        return circuits, tuple(circuit for device in devices for circuit in memory[device])

    def _plug(self, device: Device, plug: Plug) -> MemoryCircuit:
        server, (rail, tray, number) = device[0], plug
        rack, tray_name = self.racks[server], self.fabric.tray_name(server, tray)
        units = [rack.units[tray].pop(0) for _ in range(number)]
        return MemoryCircuit(
            device=self.fabric.device_name(*device),
            rail=rail,
            port=self.fabric.tray_port_name(server, tray, rail, rack.ports[rail][tray].pop(0)),
            units=tuple(f"{tray_name}.u{unit}" for unit in units),
        )

    def _network(self, demand: PoolDemand, ranks: Mapping[int, Sequence[Device]]) -> Network | None:
        """Rails of a job: spine rails with the most free uplinks, then local ones with the fewest free ports."""
        across = self.across_rails(demand, list(ranks))
        if across is None:
            return None
        inside: dict[int, tuple[int, ...]] = {}
        for server in ranks:
            rack = self.racks[server]
            left = [rail for rail in rack.spine if rail not in across]
            local = sorted(rack.ports, key=lambda rail: (rack.num_ports(rail), -rail))
            inside[server] = tuple([*left, *local][: demand.inside])
            if len(inside[server]) < demand.inside:
                return None
        return self.network(demand, across, inside)

    def network(self, demand: PoolDemand, across: Sequence[int], inside: Mapping[int, tuple[int, ...]]) -> Network:
        """Rails with the first free uplinks; none where the job lies in one server."""
        uplinks = {
            server: {rail: tuple(self.racks[server].uplinks[rail][: demand.uplinks]) for rail in across}
            for server in inside
            if len(inside) > 1
        }
        return Network(tuple(across), inside, uplinks)

    def across_rails(self, demand: PoolDemand, servers: Sequence[int]) -> list[int] | None:
        """Spine rails for groups that may leave a server, those with the most free uplinks; None where they lack."""
        racks = [self.racks[server] for server in servers]
        rails = set(racks[0].spine).intersection(*(rack.spine for rack in racks))
        if len(racks) > 1:
            free = {rail: min(len(rack.uplinks.get(rail, ())) for rack in racks) for rail in rails}
            rails = {rail for rail in rails if free[rail] >= max(demand.uplinks, 1)}
            order = sorted(rails, key=lambda rail: (-free[rail], rail))
        else:
            order = sorted(rails)
        return order[: demand.across] if len(order) >= demand.across else None


def by_server(devices: Iterable[Device]) -> dict[int, list[Device]]:
    """Devices of each server, in the order of ranks."""
    found: dict[int, list[Device]] = {}
    for device in devices:
        found.setdefault(device[0], []).append(device)
    return found


def _rack(cluster: Cluster, server: int) -> Rack:
    """A server with nothing placed."""
    fabric = cluster.fabric
    assert isinstance(fabric, Sipam)
    trays, zone = range(fabric.trays_per_server), fabric.num_servers + fabric.rack_of(server)
    works = [(rail, server) not in cluster.failed_switches for rail in range(fabric.num_io)]
    spine = [rail for rail in range(fabric.local_rails, fabric.num_io) if works[rail]]
    return Rack(
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


def first_fit(
    rack: Rack, demand: PoolDemand, num_ranks: int, allowed: Sequence[int], port_units: int
) -> list[list[Plug]] | None:
    """Plugs of each rank on the allowed rails, from the trays with the most free units; None where this fails."""
    counts = _even(demand.memory_io * num_ranks, {rail: min(num_ranks, rack.num_ports(rail)) for rail in allowed})
    if counts is None:
        return None
    dealt = [rail for rail in allowed for _ in range(counts[rail])]
    units = [len(free) for free in rack.units]
    ports = {rail: [len(free) for free in rack.ports[rail]] for rail in allowed}
    ranks: list[list[Plug]] = []
    for rank in range(num_ranks):
        plugs = _plugs(dealt[rank::num_ranks], demand.units, units, ports, port_units)
        if plugs is None:
            return None
        ranks.append(plugs)
    return ranks


def _even(total: int, most: Mapping[int, int]) -> dict[int, int] | None:
    """Circuits on each rail, `total` in all, none above `most` and all as even as that allows."""
    if sum(most.values()) < total:
        return None
    counts, left = dict.fromkeys(most, 0), total
    open_rails = [rail for rail in most if most[rail]]
    while left:
        share = max(left // len(open_rails), 1)
        for rail in list(open_rails):
            given = min(share, most[rail] - counts[rail], left)
            counts[rail] += given
            left -= given
            if counts[rail] == most[rail]:
                open_rails.remove(rail)
    return counts


def _plugs(
    rails: Sequence[int], num_units: int, units: list[int], ports: Mapping[int, list[int]], port_units: int
) -> list[Plug] | None:
    """Trays and units of one rank, taken from the counts; None where they do not suffice.

    All ports but one carry as many units as they can. That one comes first, where it leaves whole portfuls behind;
    the others take the trays with the most free units.
    """
    rest = num_units - (len(rails) - 1) * port_units
    ends = [(rail, tray) for rail in rails for tray in _open(rail, rest, units, ports)]
    if not ends:
        return None

    def odd(end: tuple[int, int]) -> tuple[bool, bool, int, int]:
        left = units[end[1]]
        return (left - rest) % port_units == 0, left % port_units != 0, left, ports[end[0]][end[1]]

    plugs = [(*max(ends, key=odd), rest)]
    for rail in (rail for rail in rails if rail != plugs[0][0]):
        _take(plugs[-1], units, ports)
        trays = _open(rail, port_units, units, ports)
        if not trays:
            return None
        plugs.append((rail, max(trays, key=lambda tray: (units[tray], ports[rail][tray])), port_units))
    _take(plugs[-1], units, ports)
    return plugs


def _open(rail: int, num_units: int, units: Sequence[int], ports: Mapping[int, list[int]]) -> list[int]:
    """Trays with a free port on a rail and so many free units."""
    return [tray for tray, free in enumerate(ports[rail]) if free and units[tray] >= num_units]


def _take(plug: Plug, units: list[int], ports: Mapping[int, list[int]]) -> None:
    rail, tray, number = plug
    units[tray] -= number
    ports[rail][tray] -= 1
