"""Racks with pooled memory while jobs are placed: free units, ports and uplinks, and circuits over them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from costmodel.fabrics import Sipam
from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.sipam.circuits import Network, held_circuits
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.server_pool import Device, FreeCounts, Plug, rack_of
from planner.model.cluster import Cluster
from planner.model.plan import HeldCircuits, MemoryCircuit


class Wires(NamedTuple):
    """Rails and plugs of a job: spine rails for groups that may leave a server, by server local rails that it keeps for
    the network, those of all phases first, and plugs of each rank."""

    across: list[int]
    kept: dict[int, tuple[int, ...]]
    plugs: dict[int, list[list[Plug]]]


Connected = tuple[tuple[HeldCircuits, ...], tuple[MemoryCircuit, ...]]
"""circuits of the network, and of memory"""


class FreePool:
    """All servers of a cluster with pooled memory."""

    def __init__(self, cluster: Cluster) -> None:
        assert isinstance(cluster.fabric, Sipam)
        self.fabric: Sipam = cluster.fabric
        self.racks = [rack_of(cluster, server) for server in range(cluster.fabric.num_servers)]

    def take(self, placed: Placed) -> None:
        """Take the units, ports and uplinks that a job names; ValueError where one is not free."""
        for circuit in placed.memory:
            server, tray, rail, index = self.fabric.parse_tray_port(circuit.port)
            rack = self.racks[server]
            rack.ports[rail][tray].remove(index)
            for name in circuit.units:
                rack.units[tray].remove(self.fabric.parse_unit(name)[2])
        names = {name for held in placed.circuits for c in held.circuits for name in c.fibers}
        for name in names:
            server, rail, index = self.fabric.parse_uplink(name)
            self.racks[server].uplinks[rail].remove(index)

    def wires(self, demand: PoolDemand, ranks: Mapping[int, Sequence[Device]]) -> Wires | None:
        """Rails and plugs for a job with these ranks by server, first fit; nothing is taken."""
        across = self.across_rails(demand, list(ranks))
        if across is None:
            return None
        kept: dict[int, tuple[int, ...]] = {}
        plugs: dict[int, list[list[Plug]]] = {}
        for server, here in ranks.items():
            found = wires_in(self.racks[server].counts, demand, len(here), self.fabric.port_units)
            if found is None:
                return None
            kept[server], plugs[server] = found
        return Wires(across, kept, plugs)

    def commit(
        self,
        shape: Demand,
        devices: Sequence[Device],
        across: Sequence[int],
        kept: Mapping[int, Sequence[int]],
        plugs: Mapping[int, list[list[Plug]]],
    ) -> Connected:
        """Name and take what a job was given, as `Wires`."""
        demand = PoolDemand.of(shape)
        networks = [self.network(each, demand.uplinks, across, kept) for each in demand.by_phase]
        for server, rails in networks[0].uplinks.items():
            for rail, numbers in rails.items():
                free = self.racks[server].uplinks[rail]
                free[:] = [number for number in free if number not in numbers]
        first, last = shape.by_phase[0], shape.by_phase[-1]
        richer = first.phase if first.memory_units > last.memory_units else last.phase
        memory: dict[Device, list[MemoryCircuit]] = {}
        for server, here in by_server(devices).items():
            for device, plugged in zip(here, plugs[server], strict=True):
                staying = stay_on(plugged, len(self.racks[server].spine), demand, kept[server])
                assert staying is not None, "plugs suffice in every phase"
                memory[device] = [self._plug(device, plug, None if plug in staying else richer) for plug in plugged]
        circuits = held_circuits(self.fabric, shape, devices, networks)
        return circuits, tuple(circuit for device in devices for circuit in memory[device])

    def _plug(self, device: Device, plug: Plug, phase: str | None) -> MemoryCircuit:
        server, (rail, tray, number) = device[0], plug
        rack, tray_name = self.racks[server], self.fabric.tray_name(server, tray)
        units = [rack.units[tray].pop(0) for _ in range(number)]
        return MemoryCircuit(
            device=self.fabric.device_name(*device),
            rail=rail,
            port=self.fabric.tray_port_name(server, tray, rail, rack.ports[rail][tray].pop(0)),
            units=tuple(f"{tray_name}.u{unit}" for unit in units),
            phase=phase,
        )

    def network(
        self, demand: PoolDemand, uplinks: int, across: Sequence[int], kept: Mapping[int, Sequence[int]]
    ) -> Network:
        """Rails of one phase: the first of `across`, then what else is left of the spine, then kept ones; and the first
        free uplinks of all rails, none where the job lies in one server."""
        mine = across[: demand.across]
        inside = {server: rails_inside(demand, mine, self.racks[server].spine, local) for server, local in kept.items()}
        reserved = {
            server: {rail: tuple(self.racks[server].uplinks[rail][:uplinks]) for rail in across}
            for server in kept
            if len(kept) > 1
        }
        return Network(tuple(mine), inside, reserved)

    def across_rails(self, demand: PoolDemand, servers: Sequence[int]) -> list[int] | None:
        """Spine rails for groups that may leave a server, those with the most free uplinks; None where they lack."""
        racks = [self.racks[server] for server in servers]
        uplinks = [{rail: len(free) for rail, free in rack.uplinks.items()} for rack in racks]
        return across_rails(demand, [rack.spine for rack in racks], uplinks)


def across_rails(
    demand: PoolDemand, spines: Sequence[Sequence[int]], uplinks: Sequence[Mapping[int, int]]
) -> list[int] | None:
    """The same, where servers of a job have these spine rails and so many free uplinks on them."""
    rails = set(spines[0]).intersection(*spines)
    if len(spines) > 1:
        free = {rail: min(each.get(rail, 0) for each in uplinks) for rail in rails}
        rails = {rail for rail in rails if free[rail] >= max(demand.uplinks, 1)}
        order = sorted(rails, key=lambda rail: (-free[rail], rail))
    else:
        order = sorted(rails)
    return order[: demand.across] if len(order) >= demand.across else None


def rails_inside(
    demand: PoolDemand, across: Sequence[int], spine: Sequence[int], kept: Sequence[int]
) -> tuple[int, ...]:
    """Rails of groups that stay in a server, in one phase: what else is left of the spine, then kept ones."""
    return (*(rail for rail in spine if rail not in across), *kept)[: demand.inside]


def by_server(devices: Iterable[Device]) -> dict[int, list[Device]]:
    """Devices of each server, in the order of ranks."""
    found: dict[int, list[Device]] = {}
    for device in devices:
        found.setdefault(device[0], []).append(device)
    return found


def wires_in(
    free: FreeCounts, demand: PoolDemand, num_ranks: int, port_units: int
) -> tuple[tuple[int, ...], list[list[Plug]]] | None:
    """Local rails for the network of a job in one of its servers, and plugs of its ranks there."""
    kept = _kept_rails(free, demand)
    if len(kept) < demand.local_network(free.spine):
        return None
    shut = kept[: _shut_to_memory(free.spine, demand)]
    allowed = [rail for rail in free.ports if rail not in shut]
    found = first_fit(free, demand, num_ranks, allowed, port_units)
    if found is None or (demand.phases and any(stay_on(each, free.spine, demand, kept) is None for each in found)):
        return None
    return kept, found


def _kept_rails(free: FreeCounts, demand: PoolDemand) -> tuple[int, ...]:
    """Local rails for the network of a job in its busiest phase: those with the fewest free ports."""
    number = demand.local_network(free.spine)
    return tuple(sorted(free.ports, key=lambda rail: (sum(free.ports[rail]), -rail))[:number] if number else ())


def _shut_to_memory(spine: int, demand: PoolDemand) -> int:
    """Of the rails kept for the network, those that no memory circuit takes in any phase: all in the phase with more
    memory, and so many that in the other one no rank has more circuits on them than it can do without."""
    richer, poorer = demand.by_memory
    return max(richer.local_network(spine), poorer.local_network(spine) - (richer.memory_io - poorer.memory_io))


def stay_on(plugs: Sequence[Plug], spine: int, demand: PoolDemand, kept: Sequence[int]) -> list[Plug] | None:
    """Plugs of a rank that stay on in the phase with less memory: of those off its network rails the ones with the most
    units; None where these are too few, or their units. `spine`: rails that work there."""
    poorer = demand.by_memory[1]
    network = kept[: poorer.local_network(spine)]
    free = sorted((plug for plug in plugs if plug[0] not in network), key=lambda plug: -plug[2])[: poorer.memory_io]
    enough = len(free) == poorer.memory_io and sum(number for *_, number in free) >= poorer.units
    return free if enough else None


def first_fit(
    free: FreeCounts, demand: PoolDemand, num_ranks: int, allowed: Sequence[int], port_units: int
) -> list[list[Plug]] | None:
    """Plugs of each rank on the allowed rails, from the trays with the most free units; None where this fails."""
    if demand.units == 0:
        return [[] for _ in range(num_ranks)]
    counts = _even(demand.memory_io * num_ranks, {rail: min(num_ranks, sum(free.ports[rail])) for rail in allowed})
    if counts is None:
        return None
    dealt = [rail for rail in allowed for _ in range(counts[rail])]
    units = [*free.units]
    ports = {rail: [*free.ports[rail]] for rail in allowed}
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
    rest, best = num_units - (len(rails) - 1) * port_units, None
    for rail in rails:
        for tray, free in enumerate(ports[rail]):
            left = units[tray]
            if free and left >= rest:
                rank = (left - rest) % port_units == 0, left % port_units != 0, left, free
                if best is None or rank > best[0]:
                    best = rank, (rail, tray, rest)
    if best is None:
        return None
    plugs = [best[1]]
    for rail in (rail for rail in rails if rail != plugs[0][0]):
        _take(plugs[-1], units, ports)
        fullest = _fullest(units, ports[rail], port_units)
        if fullest is None:
            return None
        plugs.append((rail, fullest, port_units))
    _take(plugs[-1], units, ports)
    return plugs


def _fullest(units: Sequence[int], ports: Sequence[int], least: int) -> int | None:
    """Of the trays with a free port on a rail and so many free units the first with the most units, then ports."""
    found, most = None, (least, 0)
    for tray, free in enumerate(ports):
        if free and (units[tray], free) > most:
            found, most = tray, (units[tray], free)
    return found


def _take(plug: Plug, units: list[int], ports: Mapping[int, list[int]]) -> None:
    rail, tray, number = plug
    units[tray] -= number
    ports[rail][tray] -= 1
