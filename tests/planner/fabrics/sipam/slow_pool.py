"""Jobs in pooled racks placed by lists of numbers, each part by itself, with nothing remembered."""

from collections.abc import Iterable, Sequence
from typing import Any

from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import JobClass, Option
from planner.fabrics.placement import Owned, Placement
from planner.fabrics.search import Blocks, Search
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import FreePool, by_server
from planner.fabrics.sipam.free_state import PoolFreeState
from planner.fabrics.sipam.server_bits import ServerBits
from planner.model.cluster import Cluster
from planner.model.masks import numbers_of


class SlowPool(PoolFreeState):
    """What `PoolFreeState` places, by hand."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.lists, self.bits = FreePool(cluster), ServerBits(self.fabric)

    def found(self, kind: JobClass, search: Search) -> Placement | None:
        if kind.held > self.num_free:
            return None
        if not search.is_fixed and not self._may_place(kind, search):
            return None
        return FreeState.found(self, kind, search)

    def rows_to_try(self, kind: JobClass, search: Search) -> Iterable[Option]:
        return FreeState.rows_to_try(self, kind, search)

    def spreads(self, demand: Demand, search: Search) -> Iterable[Blocks]:
        return FreeState.spreads(self, demand, search)

    def room(self, demand: Demand) -> Sequence[int]:
        found = []
        for free, rack in zip(self.any if demand.is_single else self.lit, self.lists.racks, strict=True):
            ports = sum(len(numbers) for trays in rack.ports.values() for numbers in trays)
            units = sum(map(len, rack.units))
            ranks = min(units // demand.held_units, ports // demand.held_io) if demand.held_units else free
            found.append(min(free, ranks) // demand.part)
        return found

    def realize_on(self, row: Option, devices: Sequence[Device], held: Sequence[Device]) -> Placement | None:
        demand = PoolDemand.of(row.shape)
        wires = self.lists.wires(demand, by_server(devices))
        if wires is None:
            return None
        networks = [self.lists.network(each, demand.uplinks, wires.across, wires.kept) for each in demand.by_phase]
        switches, masks = set[tuple[int, int]](), dict[int, int]()
        for server, ranks in wires.plugs.items():
            rack, zone = self.lists.racks[server], self.fabric.num_servers + self.fabric.rack_of(server)
            units, ports = (
                [[*free] for free in rack.units],
                {rail: [[*p] for p in of] for rail, of in rack.ports.items()},
            )
            found = []
            for rail, tray, number in (plug for plugs in ranks for plug in plugs):
                switches.add((rail, server))
                found.append(self.bits.field("port", tray=tray, rail=rail).first + ports[rail][tray].pop(0))
                found += [self.bits.field("unit", tray=tray).first + units[tray].pop(0) for _ in range(number)]
            for rail, numbers in networks[0].uplinks.get(server, {}).items():
                found += [self.bits.field("uplink", rail=rail).first + number for number in numbers]
            for network in networks:
                switches |= {(rail, server) for rail in (*network.across, *network.inside[server])}
                switches |= {(rail, zone) for rail in network.across if len(wires.plugs) > 1}
            if found:
                masks[server] = sum(1 << bit for bit in found)
        return Placement(row, tuple(devices), tuple(held), Owned(tuple(masks.items())), frozenset(switches))

    def _take_owned(self, owned: Owned[Any]) -> None:
        for server, mask in owned.masks:
            for field, free in self.bits.lists(self.lists.racks[server]):
                for number in numbers_of((mask & field.mask) >> field.first):
                    free.remove(number)

    def _release_owned(self, owned: Owned[Any]) -> None:
        for server, mask in owned.masks:
            for field, free in self.bits.lists(self.lists.racks[server]):
                free[:] = sorted([*free, *numbers_of((mask & field.mask) >> field.first)])
