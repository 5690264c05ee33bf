"""Where the ranks of jobs that may move lie: each keeps its device, or enters another one."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ortools.sat.python import cp_model

from costmodel.pricing.servers_by_rack import ServersByRack
from planner.fabrics.free_slots import Device
from planner.fabrics.ranked_assignment import RankedAssignment
from planner.formulation.servers_by_rack import AskedOfRacks
from planner.model.cluster import Cluster, Condition

Literal = cp_model.IntVar


class RankLiterals(NamedTuple):
    """Devices that are alike for a rank: all that are free on a server in one condition, or one device."""

    server: int
    condition: Condition
    slot: int | None

    @property
    def has_port(self) -> bool:
        return not self.condition.is_dark


@dataclass
class PlaceLiterals:
    """CP-SAT model of devices; ranks of `tenants` move freely, those in `pinned` keep their devices.

    `free` are the devices that no other job holds. Where slots matter each device is a place of its own.
    """

    cp: cp_model.CpModel
    cluster: Cluster
    tenants: Sequence[RankedAssignment]
    pinned: frozenset[str]
    free: frozenset[Device]
    slots_matter: bool
    keeps: dict[tuple[int, int], Literal] = field(default_factory=dict)
    """(tenant, rank): stays on its device"""
    enters: dict[tuple[int, int], dict[RankLiterals, Literal]] = field(default_factory=dict)
    on: dict[tuple[int, int], dict[int, Literal]] = field(default_factory=dict)
    """(tenant, block): literal by server"""

    def __post_init__(self) -> None:
        self._takers: defaultdict[RankLiterals, list[Literal]] = defaultdict(list)
        self._singles: defaultdict[int, list[Literal]] = defaultdict(list)
        self._first = {self.kind(device): device for device in sorted(self.free, reverse=True)}
        self._capacity = Counter(map(self.kind, self.free))
        self._places = sorted(self._first, key=str)
        for t, tenant in enumerate(self.tenants):
            self._add_servers(t, tenant)
            for rank in range(len(tenant.devices)):
                self._add_rank(t, tenant, rank)
        for place, literals in self._takers.items():
            self.cp.add(sum(literals) <= self._capacity[place])
        self._use_dark_first()

    def kind(self, device: Device) -> RankLiterals:
        server, slot = device
        return RankLiterals(server, self.cluster.condition(device), slot if self.slots_matter else None)

    def _fits(self, tenant: RankedAssignment, device: Device) -> bool:
        cluster = self.cluster
        lost = device in cluster.failed_devices or (len(tenant.devices) > 1 and device in cluster.dark_devices)
        return not lost and device in self.free

    def _add_servers(self, t: int, tenant: RankedAssignment) -> None:
        fabric, block = self.cluster.fabric, tenant.block
        servers = sorted({device[0] for device in self.free})
        for b in range(len(tenant.devices) // block):
            if tenant.name in self.pinned:
                home = tenant.devices[b * block][0]
                self.on[t, b] = {home: self.cp.new_constant(1)}
                continue
            self.on[t, b] = {s: self.cp.new_bool_var("") for s in servers if self._may_enter(tenant, b, s)}
            self.cp.add_exactly_one(self.on[t, b].values())
        is_spread = tenant.assignment.configuration.racks > 1
        if fabric.racks > 1 and not (fabric.links_racks or is_spread or tenant.name in self.pinned):
            for rack in range(fabric.racks):
                inside = [
                    sum(v for s, v in self.on[t, b].items() if fabric.rack_of(s) == rack)
                    for b in range(len(tenant.devices) // block)
                ]
                for one in inside[1:]:
                    self.cp.add(one == inside[0])

    def _may_enter(self, tenant: RankedAssignment, b: int, server: int) -> bool:
        """True if a block may lie on a server: that of a job over several racks stays in its rack."""
        fabric, home = self.cluster.fabric, tenant.devices[b * tenant.block][0]
        return tenant.assignment.configuration.racks == 1 or fabric.rack_of(home) == fabric.rack_of(server)

    def _add_rank(self, t: int, tenant: RankedAssignment, rank: int) -> None:
        device, is_single = tenant.devices[rank], len(tenant.devices) == 1
        keep = self.keeps[t, rank] = self.cp.new_bool_var("")
        if not self._fits(tenant, device):
            self.cp.add(keep == 0)
        own = self.kind(device)
        self._takers[own].append(keep)
        self.enters[t, rank] = {}
        if tenant.name in self.pinned:
            self.cp.add(keep == 1)
            return
        inside = defaultdict[int, list[Literal]](list)
        for place in self._places:
            is_its_own = place == own and device in self.free and self._capacity[own] == 1
            if is_its_own or not (place.has_port or is_single):
                continue
            literal = self.enters[t, rank][place] = self.cp.new_bool_var("")
            self._takers[place].append(literal)
            inside[place.server].append(literal)
            if is_single and place.has_port:
                self._singles[place.server].append(literal)
        for server, on in self.on[t, rank // tenant.block].items():
            self.cp.add(sum(inside[server]) + (keep if server == device[0] else 0) == on)

    def _use_dark_first(self) -> None:
        """A single-device job enters a working port only where no healthy device without one is left."""
        dark: defaultdict[int, list[Device]] = defaultdict(list)
        for device in self.free & self.cluster.dark_devices:
            dark[device[0]].append(device)
        for server, devices in dark.items():
            places = {self.kind(device) for device in devices}
            used = sum(sum(self._takers[place]) for place in places)
            for single in self._singles[server]:
                self.cp.add(used == len(devices)).only_enforce_if(single)

    def keep_apart(self, names: frozenset[str]) -> None:
        """No two blocks of these tenants share a server."""
        for t, tenant in enumerate(self.tenants):
            on: defaultdict[int, list[Literal]] = defaultdict(list)
            for block in range(len(tenant.devices) // tenant.block if tenant.name in names else 0):
                for server, literal in self.on[t, block].items():
                    on[server].append(literal)
            for literals in on.values():
                self.cp.add_at_most_one(literals)

    def keep_by_rack(self, asked: Mapping[str, ServersByRack]) -> None:
        """These tenants, of which no two blocks share a server, take as many servers of each rack as they ask for."""
        for t, tenant in enumerate(self.tenants):
            if tenant.name in asked:
                own = (self.on[t, block].items() for block in range(len(tenant.devices) // tenant.block))
                entered = [place for places in own for place in places]
                racks = tuple(self.cluster.fabric.rack_of(server) for server, _ in entered)
                AskedOfRacks(asked[tenant.name], racks).add(self.cp, [literal for _, literal in entered])

    @property
    def moves(self) -> cp_model.LinearExprT:
        """Ranks that leave their device."""
        return sum(1 - keep for keep in self.keeps.values())

    def devices(self, solver: cp_model.CpSolver) -> list[tuple[Device, ...]]:
        """Device of each rank of each tenant in a solution; who enters takes the first free ones."""
        left = set(self.free)
        chosen: dict[tuple[int, int], Device] = {}
        for (t, rank), keep in self.keeps.items():
            if solver.value(keep):
                chosen[t, rank] = self.tenants[t].devices[rank]
                left.discard(chosen[t, rank])
        for key, places in self.enters.items():
            if key in chosen:
                continue
            place = next(place for place, literal in places.items() if solver.value(literal))
            chosen[key] = min(device for device in left if self.kind(device) == place)
            left.discard(chosen[key])
        return [tuple(chosen[t, rank] for rank in range(len(x.devices))) for t, x in enumerate(self.tenants)]

    def servers_of(self, t: int, rank: int) -> Mapping[int, Literal]:
        """Literal of each server that a rank may lie on."""
        return self.on[t, rank // self.tenants[t].block]

    def at(self, t: int, rank: int) -> list[tuple[Device, Literal]]:
        """The present device of a rank and those that it may enter, one of each set that is alike."""
        entered = [(self._first[place], literal) for place, literal in self.enters[t, rank].items()]
        return [(self.tenants[t].devices[rank], self.keeps[t, rank]), *entered]
