"""Free devices of racks that an upper layer joins: a job over several is placed rack by rack."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice, repeat
from typing import Any, Self

from planner.fabrics.across_racks import in_racks, joined
from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.free_devices import FreeDevices
from planner.fabrics.free_slots import Device
from planner.fabrics.placement import Owned
from planner.fabrics.problem import JobOptions
from planner.fabrics.rack_links import RackLinks
from planner.fabrics.search import Blocks, Search
from planner.model.cluster import Cluster
from planner.model.plan import Assignment

MOST_CHOICES = 50
"""choices of racks that a job is tried on"""


class FreeRacks(FreeDevices):
    """Free devices, and free links between racks where there are any."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        upper = cluster.fabric.upper_layer
        self.links = None if upper is None else RackLinks(cluster, upper)

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
    def owned_by(self, placed: Placed) -> Owned[Any] | None:
        """By number the parts that an assignment holds beside its devices; None where it holds none."""

    def assign(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        """Place a candidate with so many blocks on each server, and take it; None where first fit fails.

        `layout` gives the server of each block; else several are tried.
        """
        demand = options.shapes[row]
        if demand.racks == 1:
            return self.assign_in_rack(options, row, blocks, layout)
        found, parts = list[Assignment](), in_racks(options, row, blocks)
        for part in parts:
            first = part.first // demand.block
            own = None if layout is None else layout[first : first + demand.in_rack.num_blocks]
            placed = self.assign_in_rack(part.options, 0, part.blocks, own)
            if placed is None:
                break
            found.append(placed)
        return self._joined(options, row, found)

    def assign_on(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        """Place a candidate with rank i on devices[i], which are free, and take it; None where first fit fails."""
        demand = options.shapes[row]
        if demand.racks == 1:
            return self.assign_on_in_rack(options, row, devices)
        found, size = list[Assignment](), demand.in_rack.num_ranks
        for part in in_racks(options, row, [(server, 1) for server, _ in devices[:: demand.block]]):
            placed = self.assign_on_in_rack(part.options, 0, devices[part.first : part.first + size])
            if placed is None:
                break
            found.append(placed)
        return self._joined(options, row, found)

    def _joined(self, options: JobOptions, row: int, parts: Sequence[Assignment]) -> Assignment | None:
        """Parts that are taken, joined by free links, taken too; None, and all given back, where a rack has no place or
        links are short."""
        demand, fabric = options.shapes[row], self.cluster.fabric
        racks = [fabric.rack_of(self._devices_of(part)[0][0]) for part in parts]
        circuits = None if self.links is None or len(parts) < demand.racks else self.links.chosen(demand, racks)
        if circuits is None or self.links is None:
            for part in parts:
                self.give_back(self._devices_of(part), self.owned_by(part))
            return None
        assignment = joined(options, row, parts, circuits)
        self.links.take(assignment)
        return assignment

    def take_named(self, placed: Placed) -> None:
        """Take all that an assignment or a resident holds."""
        self.hold(self._devices_of(placed), self.owned_by(placed))
        if self.links is not None:
            self.links.take(placed)

    def release_named(self, placed: Placed) -> None:
        """Give back all that an assignment holds, which was taken."""
        self.give_back(self._devices_of(placed), self.owned_by(placed))
        if self.links is not None:
            self.links.release(placed)

    def spreads_over_racks(self, demand: Demand, search: Search) -> Iterator[Blocks]:
        """Ways to spread a job over as many racks as it asks for, those with the least room first."""
        found, part = list[tuple[int, int, Blocks]](), demand.in_rack
        for rack, servers in enumerate(self.together):
            if (
                self.free_together[rack] >= part.num_ranks
                and self.links is not None
                and self.links.fits(demand, [rack])
            ):
                spread = next(iter(self.spreads(part, replace(search, among=[servers]))), None)
                if spread is not None:
                    found.append((self.free_together[rack], rack, spread))
        for chosen in islice(combinations(sorted(found), demand.racks), MOST_CHOICES):
            ordered = sorted((rack, blocks) for _, rack, blocks in chosen)
            if self.links is not None and self.links.fits(demand, [rack for rack, _ in ordered]):
                yield [block for _, blocks in ordered for block in blocks]

    def _devices_of(self, placed: Placed) -> list[Device]:
        fabric = self.cluster.fabric
        servers, slots = fabric.servers_by_name, fabric.slots_by_name
        try:
            return [(servers[head], slots[tail]) for head, _, tail in map(str.rpartition, placed.devices, repeat("."))]
        except KeyError:
            return [fabric.parse_device(name) for name in placed.devices]
