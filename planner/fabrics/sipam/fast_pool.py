"""Racks with pooled memory while jobs come and go: units, ports and uplinks by number."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import copy
from typing import NamedTuple

from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.placement import Owned, Switches
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import Connected, FreePool, Wires, across_rails, by_server, rails_inside, wires_in
from planner.fabrics.sipam.server_bits import ServerBits
from planner.fabrics.sipam.server_rooms import AskedPart, ServerCounts, parts_on
from planner.model.cluster import Cluster

PoolPart = int
"""a server: what jobs hold of it is one mask, as `ServerBits` numbers units, ports and uplinks"""
MOST_FOUND = 20_000
"""answers of first fit that are remembered"""


class WiredServer(NamedTuple):
    """What first fit gives a job in one server."""

    kept: tuple[int, ...]
    """local rails for its network"""
    rails: frozenset[int]
    """of its memory circuits"""
    taken: int
    """units and ports"""


class FreePoolParts:
    """Free units, ports and uplinks of each server, exact."""

    def __init__(self, cluster: Cluster) -> None:
        self._pool = FreePool(cluster)
        fabric, racks = self._pool.fabric, self._pool.racks
        self.bits, self._port_units = ServerBits(fabric), fabric.port_units
        self._failed = _failed(cluster, self.bits)
        self.taken: dict[PoolPart, int] = dict.fromkeys(range(len(racks)), 0)
        self._works = [self.bits.free_of(rack) for rack in racks]
        self._shown = [0 for _ in racks]
        """what was taken when the pool was last told, by server"""
        self.units = [rack.num_units for rack in racks]
        """free units, by server"""
        self.ports = [sum(map(rack.num_ports, rack.ports)) for rack in racks]
        """free ports, by server"""
        self.num_units, self.num_ports = sum(self.units), sum(self.ports)
        """of all servers together"""
        self._working = list(self.units), list(self.ports)
        """units and ports of each server, free or not"""
        kinds: dict[object, int] = {}
        self._kinds = [kinds.setdefault((tuple(rack.ports), rack.spine), len(kinds)) for rack in racks]
        """equal for servers with the same rails"""
        self._found: dict[tuple[PoolDemand, int, int, int], WiredServer | None] = {}

    def copy(self) -> "FreePoolParts":
        """The same parts, to take from apart."""
        twin = copy(self)
        twin._pool = copy(self._pool)
        twin._pool.racks = [rack.copy() for rack in self._pool.racks]
        twin.taken, twin._shown = dict(self.taken), [*self._shown]
        twin.units, twin.ports = [*self.units], [*self.ports]
        return twin

    @property
    def pool(self) -> FreePool:
        """Free numbers of all servers."""
        self.refresh(self.taken)
        return self._pool

    def most(self, demand: Demand, devices: Sequence[int]) -> list[int]:
        """Parts of a job that would fit on each server with so many devices if nobody else were there."""
        counts = ServerCounts([*devices], [*devices], *self._working)
        return parts_on(counts, AskedPart.of(demand), range(len(devices)))

    def wires(self, demand: Demand, devices: Sequence[Device]) -> Wires | None:
        """Rails and plugs for a job on its devices; None where first fit finds none."""
        ranks = by_server(devices)
        self.refresh(ranks)
        return self._pool.wires(PoolDemand.of(demand), ranks)

    def connect(self, demand: Demand, devices: Sequence[Device]) -> tuple[Owned[PoolPart], Switches] | None:
        """Parts for a job on its devices, and the switches that it needs; None where first fit finds none. They are
        those of `wires`, which is asked once for all servers of which the same is free."""
        asked, ranks = PoolDemand.of(demand), dict[int, int]()
        for server, _ in devices:
            ranks[server] = ranks.get(server, 0) + 1
        across = self._across(asked, ranks)
        if across is None:
            return None
        found: dict[int, WiredServer] = {}
        for server, number in ranks.items():
            wired = self._in_server(server, asked, number)
            if wired is None:
                return None
            found[server] = wired
        masks = [(server, wired.taken) for server, wired in found.items()]
        if len(ranks) > 1 and asked.uplinks:
            of = self.bits.of_uplinks
            masks = [(server, mask | of(self._free(server), across, asked.uplinks)) for server, mask in masks]
        owned = Owned(tuple([(server, mask) for server, mask in masks if mask]))
        return owned, frozenset(self._switches(asked, across, found))

    def _across(self, asked: PoolDemand, servers: Collection[int]) -> list[int] | None:
        """As `FreePool.across_rails`."""
        field, racks = self.bits.field, self._pool.racks
        if asked.across == 0:
            return []
        uplinks = [
            {rail: (self._free(server) & field("uplink", rail=rail).mask).bit_count() for rail in racks[server].uplinks}
            for server in (servers if len(servers) > 1 else ())
        ]
        return across_rails(asked, [racks[server].spine for server in servers], uplinks)

    def _in_server(self, server: int, asked: PoolDemand, num_ranks: int) -> WiredServer | None:
        free = self._free(server) & self.bits.memory
        key = asked, num_ranks, self._kinds[server], free
        if key not in self._found:
            if len(self._found) >= MOST_FOUND:
                self._found.clear()
            counts = self.bits.counts(free, self._pool.racks[server])
            found = wires_in(counts, asked, num_ranks, self._port_units)
            if found is None:
                self._found[key] = None
            else:
                kept, plugs = found
                rails = frozenset([rail for each in plugs for rail, _, _ in each])
                self._found[key] = WiredServer(kept, rails, self.bits.of_plugs(free, plugs))
        return self._found[key]

    def owned(self, demand: Demand, wires: Wires) -> Owned[PoolPart]:
        """By number all that a job is given: the first that are free, as `FreePool.commit` takes them."""
        spans, each = len(wires.plugs) > 1, PoolDemand.of(demand).uplinks
        masks: list[tuple[PoolPart, int]] = []
        for server, plugs in wires.plugs.items():
            free = self._free(server)
            uplinks = self.bits.of_uplinks(free, wires.across if spans else (), each)
            masks.append((server, self.bits.of_plugs(free, plugs) | uplinks))
        return Owned(tuple((server, mask) for server, mask in masks if mask))

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
        fabric, field, masks = self._pool.fabric, self.bits.field, dict[PoolPart, int]()
        for circuit in placed.memory:
            server, tray, rail, index = fabric.parse_tray_port(circuit.port)
            first = field("unit", tray=tray).first
            mask = 1 << field("port", tray=tray, rail=rail).first + index
            for name in circuit.units:
                mask |= 1 << first + fabric.parse_unit(name)[2]
            masks[server] = masks.get(server, 0) | mask
        for name in {name for held in placed.circuits for c in held.circuits for name in c.fibers}:
            server, rail, index = fabric.parse_uplink(name)
            masks[server] = masks.get(server, 0) | 1 << field("uplink", rail=rail).first + index
        return Owned(tuple(masks.items()))

    def _switches(
        self, asked: PoolDemand, across: Sequence[int], found: Mapping[int, WiredServer]
    ) -> Iterator[tuple[int, int]]:
        """(rail, server or zone) of every circuit."""
        fabric = self._pool.fabric
        for server, wired in found.items():
            rails, spine = set(wired.rails), self._pool.racks[server].spine
            for each in asked.by_phase:
                mine = across[: each.across]
                rails.update(mine, rails_inside(each, mine, spine, wired.kept))
                if len(found) > 1:
                    zone = fabric.num_servers + fabric.rack_of(server)
                    yield from ((rail, zone) for rail in mine)
            yield from ((rail, server) for rail in rails)

    def take(self, parts: Owned[PoolPart]) -> None:
        """These numbers, which are free, are so no longer."""
        self._change(parts, -1)

    def release(self, parts: Owned[PoolPart]) -> None:
        """These numbers are free again."""
        self._change(parts, 1)

    def _change(self, parts: Owned[PoolPart], sign: int) -> None:
        taken, bits = self.taken, self.bits
        for server, mask in parts.masks:
            taken[server] ^= mask
            units, ports = sign * (mask & bits.units).bit_count(), sign * (mask & bits.ports).bit_count()
            self.units[server] += units
            self.ports[server] += ports
            self.num_units += units
            self.num_ports += ports

    def _free(self, server: int) -> int:
        """Mask of what is free in a server."""
        return self._works[server] & ~self.taken[server]

    def refresh(self, servers: Iterable[int]) -> None:
        """Bring the pool up to date on these servers, before rails and plugs that others chose are numbered."""
        for server in servers:
            self._refresh(server)

    def _refresh(self, server: int) -> None:
        """Tell the pool what is free of a server."""
        taken = self.taken[server]
        changed, free = taken ^ self._shown[server], self._free(server)
        if changed:
            for field, numbers in self.bits.lists(self._pool.racks[server]):
                if changed & field.mask:
                    mine = free >> field.first
                    numbers[:] = [number for number in range(field.width) if mine >> number & 1]
            self._shown[server] = taken

    def broken(self, parts: Owned[PoolPart]) -> bool:
        """True if some of it has failed."""
        return any(self._failed.get(part, 0) & mask for part, mask in parts.masks)


def _failed(cluster: Cluster, bits: ServerBits) -> dict[PoolPart, int]:
    """Masks of what has failed, by server."""
    masks: dict[PoolPart, int] = {}
    for server, tray, number in cluster.failed_units:
        masks[server] = masks.get(server, 0) | 1 << bits.field("unit", tray=tray).first + number
    for server, tray, rail, number in cluster.failed_tray_ports:
        masks[server] = masks.get(server, 0) | 1 << bits.field("port", tray=tray, rail=rail).first + number
    for server, rail, number in cluster.failed_uplinks:
        masks[server] = masks.get(server, 0) | 1 << bits.field("uplink", rail=rail).first + number
    return masks
