"""Racks with pooled memory while jobs come and go: units, ports and uplinks by number."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Literal

from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.placement import Owned, Switches
from planner.fabrics.sipam.circuits import Network
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import Connected, FreePool, Wires, by_server
from planner.model.cluster import Cluster

PoolPart = tuple[Literal["unit", "port", "uplink"], int, int, int]
"""("unit", server, tray, 0), ("port", server, tray, rail) or ("uplink", server, rail, 0): what is numbered within it"""


class FreePoolParts:
    """Free units, ports and uplinks of each server, exact.

    Numbers of units of a tray, of ports of a tray on a rail and of uplinks of a rail are masks by part, as wavelengths
    by fiber are.
    """

    def __init__(self, cluster: Cluster) -> None:
        self._pool = FreePool(cluster)
        self._failed = _failed(cluster)
        self.taken: dict[PoolPart, int] = {}
        self._units = [rack.num_units for rack in self._pool.racks]
        self._ports = [sum(map(rack.num_ports, rack.ports)) for rack in self._pool.racks]
        self._working = list(self._units), list(self._ports)
        """units and ports of each server, free or not"""
        self._stale: list[set[PoolPart]] = [set() for _ in self._pool.racks]
        """parts by server whose free numbers the pool does not know yet"""
        self._all: dict[PoolPart, tuple[int, ...]] = {}
        """numbers that work of parts that jobs have taken from"""

    def copy(self) -> "FreePoolParts":
        """The same parts, to take from apart."""
        twin = copy(self)
        twin._pool = copy(self.pool)
        twin._pool.racks = [rack.copy() for rack in self._pool.racks]
        twin.taken, twin._all, twin._stale = dict(self.taken), dict(self._all), [set() for _ in self._stale]
        twin._units, twin._ports = [*self._units], [*self._ports]
        return twin

    @property
    def pool(self) -> FreePool:
        """Free numbers of all servers."""
        for server, stale in enumerate(self._stale):
            if stale:
                self._refresh(server)
        return self._pool

    def room(self, demand: Demand, free: Sequence[int]) -> list[int]:
        """Parts of a job that fit on each server with so many free devices."""
        return _room(demand, free, self._units, self._ports)

    def most(self, demand: Demand, devices: Sequence[int]) -> list[int]:
        """Parts of a job that would fit on each server with so many devices if nobody else were there."""
        return _room(demand, devices, *self._working)

    def wires(self, demand: Demand, devices: Sequence[Device]) -> Wires | None:
        """Rails and plugs for a job on its devices; None where first fit finds none."""
        ranks = by_server(devices)
        self.refresh(ranks)
        return self._pool.wires(PoolDemand.of(demand), ranks)

    def connect(self, demand: Demand, devices: Sequence[Device]) -> tuple[Owned[PoolPart], Switches] | None:
        """Parts for a job on its devices, and the switches that it needs; None where first fit finds none."""
        wires = self.wires(demand, devices)
        if wires is None:
            return None
        networks = self._networks(demand, wires)
        return self.owned(demand, wires, networks[0]), frozenset(self._switches(wires, networks))

    def owned(self, demand: Demand, wires: Wires, network: Network | None = None) -> Owned[PoolPart]:
        """By number all that a job is given; `network`: that of its first phase."""
        parts: dict[PoolPart, int] = {}
        for part, number in self._numbers(wires, network or self._networks(demand, wires)[0]):
            parts[part] = parts.get(part, 0) | 1 << number
        return Owned(tuple(parts.items()))

    def _networks(self, demand: Demand, wires: Wires) -> list[Network]:
        """Rails and uplinks of each phase."""
        asked = PoolDemand.of(demand)
        return [self._pool.network(each, asked.uplinks, wires.across, wires.kept) for each in asked.by_phase]

    def named(self, demand: Demand, devices: Sequence[Device]) -> Connected | None:
        """Circuits and memory by name that first fit gives a job on its devices; nothing is taken."""
        wires = self.wires(demand, devices)
        return None if wires is None else self.connected(demand, devices, wires)

    def connected(self, demand: Demand, devices: Sequence[Device], wires: Wires) -> Connected:
        """Circuits and memory by name of a job that is given this; nothing is taken."""
        scratch = copy(self._pool)
        scratch.racks = list(self._pool.racks)
        for server in wires.kept:
            scratch.racks[server] = self._pool.racks[server].copy()
        return scratch.commit(demand, devices, *wires)

    def owned_by(self, placed: Placed) -> Owned[PoolPart]:
        """By number the parts that an assignment or a resident names."""
        fabric, masks = self._pool.fabric, dict[PoolPart, int]()

        def add(part: PoolPart, number: int) -> None:
            masks[part] = masks.get(part, 0) | 1 << number

        for circuit in placed.memory:
            server, tray, rail, index = fabric.parse_tray_port(circuit.port)
            add(("port", server, tray, rail), index)
            for name in circuit.units:
                add(("unit", server, tray, 0), fabric.parse_unit(name)[2])
        for name in {name for held in placed.circuits for c in held.circuits for name in c.fibers}:
            server, rail, index = fabric.parse_uplink(name)
            add(("uplink", server, rail, 0), index)
        return Owned(tuple(masks.items()))

    def _numbers(self, wires: Wires, network: Network) -> Iterator[tuple[PoolPart, int]]:
        """Part and number of all that a job is given: the first free ones, as `Pool.commit` takes them."""
        for server, ranks in wires.plugs.items():
            rack = self._pool.racks[server]
            units = [iter(free) for free in rack.units]
            ports = {rail: [iter(free) for free in trays] for rail, trays in rack.ports.items()}
            for rail, tray, number in (plug for plugs in ranks for plug in plugs):
                yield ("port", server, tray, rail), next(ports[rail][tray])
                for _ in range(number):
                    yield ("unit", server, tray, 0), next(units[tray])
        for server, rails in network.uplinks.items():
            for rail, numbers in rails.items():
                yield from ((("uplink", server, rail, 0), number) for number in numbers)

    def _switches(self, wires: Wires, networks: Sequence[Network]) -> Iterator[tuple[int, int]]:
        """(rail, server or zone) of every circuit."""
        fabric = self._pool.fabric
        spans = len(wires.kept) > 1
        for server, ranks in wires.plugs.items():
            yield from ((rail, server) for plugs in ranks for rail, _, _ in plugs)
            for network in networks:
                yield from ((rail, server) for rail in (*network.across, *network.inside[server]))
                if spans:
                    yield from ((rail, fabric.num_servers + fabric.rack_of(server)) for rail in network.across)

    def take(self, parts: Owned[PoolPart]) -> None:
        """These numbers, which are free, are so no longer."""
        self._change(parts, -1)

    def release(self, parts: Owned[PoolPart]) -> None:
        """These numbers are free again."""
        self._change(parts, 1)

    def _change(self, parts: Owned[PoolPart], sign: int) -> None:
        taken, stale = self.taken, self._stale
        for part, mask in parts.masks:
            taken[part] = taken.get(part, 0) ^ mask
            kind, server, _, _ = part
            stale[server].add(part)
            if kind == "unit":
                self._units[server] += sign * mask.bit_count()
            elif kind == "port":
                self._ports[server] += sign * mask.bit_count()

    def refresh(self, servers: Iterable[int]) -> None:
        """Bring the pool up to date on these servers, before rails and plugs that others chose are numbered."""
        for server in servers:
            self._refresh(server)

    def _refresh(self, server: int) -> None:
        """Tell the pool what is free of a server."""
        for part in self._stale[server]:
            free, taken = self._free(part), self.taken[part]
            if part not in self._all:
                self._all[part] = tuple(free)
            free[:] = [number for number in self._all[part] if not taken >> number & 1]
        self._stale[server].clear()

    def name(self, part: PoolPart, number: int) -> str:
        """A unit, port or uplink by name."""
        fabric, (kind, server, place, rail) = self._pool.fabric, part
        if kind == "unit":
            return f"{fabric.tray_name(server, place)}.u{number}"
        if kind == "port":
            return fabric.tray_port_name(server, place, rail, number)
        return fabric.uplink_name(server, place, number)

    def broken(self, parts: Owned[PoolPart]) -> bool:
        """True if some of it has failed."""
        return any(self._failed.get(part, 0) & mask for part, mask in parts.masks)

    def _free(self, part: PoolPart) -> list[int]:
        """Free numbers of a part."""
        kind, server, place, rail = part
        rack = self._pool.racks[server]
        if kind == "unit":
            return rack.units[place]
        return rack.ports[rail][place] if kind == "port" else rack.uplinks[place]


def _room(demand: Demand, devices: Sequence[int], units: Sequence[int], ports: Sequence[int]) -> list[int]:
    """Parts of a job for which each server has devices, units and ports."""
    asked, io, part = demand.held_units, demand.held_io, demand.part
    if asked == 0:
        return [number // part for number in devices]
    left = zip(devices, units, ports, strict=True)
    return [min(number, memory // asked, light // io) // part for number, memory, light in left]


def _failed(cluster: Cluster) -> dict[PoolPart, int]:
    """Masks of the numbers that have failed, by part."""
    names: list[tuple[PoolPart, int]] = []
    names += [(("unit", server, tray, 0), number) for server, tray, number in cluster.failed_units]
    names += [(("port", server, tray, rail), number) for server, tray, rail, number in cluster.failed_tray_ports]
    names += [(("uplink", server, rail, 0), number) for server, rail, number in cluster.failed_uplinks]
    masks: dict[PoolPart, int] = {}
    for part, number in names:
        masks[part] = masks.get(part, 0) | 1 << number
    return masks
