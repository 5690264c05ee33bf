"""Free devices of racks that an upper layer joins: a job over several is placed rack by rack."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from itertools import chain, repeat
from math import inf
from typing import Any, Self

from planner.fabrics.across_racks import by_rack, in_racks, joined
from planner.fabrics.asked_racks import lies_as_asked
from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.free_devices import FreeDevices, Masks
from planner.fabrics.free_slots import Device
from planner.fabrics.job_class import Option
from planner.fabrics.lit import Lit
from planner.fabrics.placed_parts import put_together
from planner.fabrics.placement import HeldLinks, Owned, Placement
from planner.fabrics.problem import JobOptions
from planner.fabrics.rack_links import RackLinks
from planner.fabrics.search import Blocks, Search
from planner.model.cluster import Cluster
from planner.model.plan import Assignment, RackCircuit

LEAST_SEARCH_S = 0.1
"""that a controller gives a search where racks are joined: jobs over several have many candidates"""


class FreeRacks(FreeDevices):
    """Free devices, and free links between racks where there are any."""

    least_search_s: float

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        upper = cluster.fabric.upper_layer
        self.links = None if upper is None else RackLinks(cluster, upper)
        if upper is not None:
            self.least_search_s = LEAST_SEARCH_S

    def copy(self) -> Self:
        twin = super().copy()
        twin.links = None if self.links is None else self.links.copy()
        return twin

    @abstractmethod
    def spreads(self, demand: Demand, search: Search) -> Iterable[Blocks]:
        """Ways to spread a job over servers of one rack with room, the best first."""

    @abstractmethod
    def assign_in_rack(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        """As `assign`, of a candidate that lies in one rack."""

    @abstractmethod
    def assign_on_in_rack(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        """As `assign_on`, of a candidate that lies in one rack."""

    @abstractmethod
    def assign_around(self, options: JobOptions, row: int, devices: Sequence[Device], lit: Lit) -> Assignment | None:
        """As `assign_on`, in one rack; circuits that are `lit` stay, None where the candidate has no such ones."""

    @abstractmethod
    def realize_in_rack(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        """As `realize`, of a row that lies in one rack."""

    @abstractmethod
    def realize_chosen_in_rack(self, row: Option, devices: Sequence[Device]) -> Placement | None:
        """As `realize_chosen`, of a row that lies in one rack."""

    @abstractmethod
    def may_span(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> bool:
        """True if the servers may be joined as so many blocks on each need it; necessary, not sufficient."""

    @abstractmethod
    def owned_by(self, placed: Placed) -> Owned[Any] | None:
        """By number the parts that an assignment holds beside its devices; None where it holds none."""

    def assign(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        """Place a candidate with so many blocks on each server, and take it; None where first fit fails.

        `layout` gives the server of each block; else several are tried.
        """
        demand = options.shapes[row]
        if not self._lies_as_asked(demand, blocks):
            return None
        if demand.racks == 1:
            return self.assign_in_rack(options, row, blocks, layout)
        found, parts = list[Assignment](), in_racks(options, row, blocks)
        for part in parts:
            first = part.first // demand.block
            own = None if layout is None else layout[first : first + demand.in_rack.num_blocks]
            placed = self.assign_in_rack(part.options, 0, part.blocks, own)
            if placed is None:
                if layout is None:
                    self.refuse(demand.in_rack, part.blocks)
                break
            found.append(placed)
        return self._joined(options, row, found)

    def assign_on(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        """Place a candidate with rank i on devices[i], which are free, and take it; None where first fit fails."""
        demand = options.shapes[row]
        if not self._lies_as_asked(demand, devices):
            return None
        if demand.racks == 1:
            return self.assign_on_in_rack(options, row, devices)
        found, size = list[Assignment](), demand.in_rack.num_ranks
        for part in in_racks(options, row, [(server, 1) for server, _ in devices[:: demand.block]]):
            placed = self.assign_on_in_rack(part.options, 0, devices[part.first : part.first + size])
            if placed is None:
                break
            found.append(placed)
        return self._joined(options, row, found)

    def assign_beside(
        self,
        options: JobOptions,
        row: int,
        devices: Sequence[Device],
        lit: Lit,
        upper: Sequence[RackCircuit],
    ) -> Assignment | None:
        """As `assign_on`; circuits that are `lit` in racks and those between racks, `upper`, stay. None where the
        candidate has no such ones."""
        demand, found = options.shapes[row], list[Assignment]()
        if not self._lies_as_asked(demand, devices):
            return None
        if demand.racks == 1:
            return self.assign_around(options, row, devices, lit) if lit else self.assign_on(options, row, devices)
        size = demand.in_rack.num_ranks
        for part in in_racks(options, row, [(server, 1) for server, _ in devices[:: demand.block]]):
            own = devices[part.first : part.first + size]
            mine = lit.among(self.cluster.fabric.device_names(own))
            given = part.options, 0, own
            placed = self.assign_around(*given, mine) if mine else self.assign_on_in_rack(*given)
            if placed is None:
                break
            found.append(placed)
        return self._joined(options, row, found, upper)

    def fits_in_rack(self, options: JobOptions, row: int, devices: Sequence[Device]) -> bool:
        """True if what a candidate has in one of its racks may lie on these free devices. Nothing is taken."""
        placed = self.assign_on_in_rack(options.in_rack, row, devices)
        if placed is not None:
            self.give_back(devices, self.owned_by(placed))
        return placed is not None

    def _joined(
        self, options: JobOptions, row: int, parts: Sequence[Assignment], kept: Sequence[RackCircuit] = ()
    ) -> Assignment | None:
        """Parts that are taken, joined by free links, taken too, those that are `kept` among them; None, and all given
        back, where a rack has no place or links are short."""
        demand, fabric = options.shapes[row], self.cluster.fabric
        racks = [fabric.rack_of(self._devices_of(part)[0][0]) for part in parts]
        held = None if self.links is None or len(parts) < demand.racks else self.links.held(demand, racks, kept)
        if held is None or self.links is None:
            for part in parts:
                self.give_back(self._devices_of(part), self.owned_by(part))
            return None
        self.links.take(held)
        return joined(options, row, parts, held.circuits)

    def realize(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        """Devices, and what else the row needs, for so many parts on each server; None where that is short. Nothing is
        taken. OutOfTimeError after `deadline_s`."""
        if not self._lies_as_asked(row.shape, blocks):
            return None
        if row.shape.racks == 1:
            return self.realize_in_rack(row, blocks, deadline_s)
        found = list[Placement]()
        for own in by_rack(row.shape, self.cluster.fabric, blocks).values():
            part = self.realize_in_rack(row.in_rack, own, deadline_s)
            if part is None:
                self.refuse(row.shape.in_rack, own)
                return None
            found.append(part)
        return self.join(row, found)

    def realize_chosen(self, row: Option, devices: Sequence[Device]) -> Placement | None:
        """A row where a policy has put it, on free devices by rank: as many parts on the same servers; None where light
        or memory is short there. Nothing is taken."""
        if not self._lies_as_asked(row.shape, devices):
            return None
        if row.shape.racks == 1:
            return self.realize_chosen_in_rack(row, devices)
        size = row.in_rack.shape.num_ranks
        runs = (devices[first : first + size] for first in range(0, len(devices), size))
        found = [part for own in runs if (part := self.realize_chosen_in_rack(row.in_rack, own)) is not None]
        return self.join(row, found)

    def _lies_as_asked(self, demand: Demand, on: Iterable[tuple[int, int]]) -> bool:
        """True unless a job asks for other numbers of servers by rack; `on` has a server first in each entry."""
        if demand.servers_by_rack is None:
            return True
        return lies_as_asked(demand, (server for server, _ in on), self.cluster.fabric)

    def join(self, row: Option, parts: Sequence[Placement]) -> Placement | None:
        """Parts in as many racks as the row asks for, over free links between these; None where either is short."""
        racks = [self.cluster.fabric.rack_of(part.devices[0][0]) for part in parts]
        links = None if self.links is None or len(parts) < row.shape.racks else self.links.held(row.shape, racks)
        return None if links is None else put_together(row, parts, links)

    def take(self, placement: Placement) -> None:
        """Mark a placement as taken, all of which is free."""
        self.hold(placement.held, placement.owned, placement.by_server)
        if placement.links is not None and self.links is not None:
            self.links.take(placement.links)

    def release(self, placement: Placement) -> None:
        """Give back what works of a placement."""
        self.give_back(placement.held, placement.owned, placement.by_server)
        if placement.links is not None and self.links is not None:
            self.links.release(placement.links)

    def take_all(self, placements: Sequence[Placement]) -> None:
        """Mark placements as taken that have nothing in common, all of which is free."""
        self.hold(*_together(placements))
        for placement in placements:
            if placement.links is not None and self.links is not None:
                self.links.take(placement.links)

    def release_all(self, placements: Sequence[Placement]) -> None:
        """Give back what works of placements."""
        self.give_back(*_together(placements))
        for placement in placements:
            if placement.links is not None and self.links is not None:
                self.links.release(placement.links)

    def has_lost_links(self, links: HeldLinks) -> bool:
        """True if a switch or fiber between racks that a job holds links of has failed."""
        failed = self.cluster.health.failed_upper
        return bool(failed) and any(circuit.over in failed for circuit in links.circuits)

    def take_named(self, placed: Placed) -> None:
        """Take all that an assignment or a resident holds."""
        self.hold(self._devices_of(placed), self.owned_by(placed))
        if self.links is not None:
            self.links.take(self.links.of(placed))

    def release_named(self, placed: Placed) -> None:
        """Give back all that an assignment holds, which was taken."""
        self.give_back(self._devices_of(placed), self.owned_by(placed))
        if self.links is not None:
            self.links.release(self.links.of(placed))

    def is_refused(self, part: Demand, blocks: Blocks) -> bool:
        """True if light has refused what a job has in one rack there, and nothing has changed."""
        return self.refused is not None and self.refused.has(part, blocks)

    def may_lie(self, part: Demand, blocks: Blocks) -> bool:
        """True unless light is known to refuse what a job has in one rack there."""
        return not self.is_refused(part, blocks) and (len(blocks) == 1 or self.may_span(part, blocks))

    def _devices_of(self, placed: Placed) -> list[Device]:
        fabric = self.cluster.fabric
        servers, slots = fabric.servers_by_name, fabric.slots_by_name
        try:
            return [(servers[head], slots[tail]) for head, _, tail in map(str.rpartition, placed.devices, repeat("."))]
        except KeyError:
            return [fabric.parse_device(name) for name in placed.devices]


def _together(placements: Sequence[Placement]) -> tuple[list[Device], Owned[Any], Masks]:
    """All devices of placements, also as masks, and what their jobs own beside these, of which rank does not matter."""
    owned = [placement.owned for placement in placements if placement.owned is not None]
    masks, counted = chain.from_iterable(own.masks for own in owned), chain.from_iterable(own.counted for own in owned)
    devices = [*chain.from_iterable(placement.held for placement in placements)]
    by_server: dict[int, int] = {}
    for placement in placements:
        for server, slots in placement.by_server.items():
            by_server[server] = by_server.get(server, 0) | slots
    return devices, Owned(tuple(masks), (), tuple(counted)), by_server
