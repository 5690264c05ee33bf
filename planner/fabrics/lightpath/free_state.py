"""Free devices and wavelengths: a job is placed with first-fit routes and wavelengths for all its circuits."""

from collections.abc import Iterator, Sequence

from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState, MostLit
from planner.fabrics.lightpath.layouts import MAX_LAYOUTS, arrangements, layouts
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster
from planner.model.plan import Assignment

MOST_SLOTTED = 2
"""orders of the servers tried for one job where slots matter: each comes with several orders of the slots"""
MOST_SLOTTED_ORDERS = 3
"""orders of the jobs that first fit tries where slots matter"""


class LightpathFreeState(FreeState):
    """Circuits take wavelengths of fibers, and of waveguides where these are shared."""

    def __init__(self, cluster: Cluster, most_lit: MostLit | None = None) -> None:
        """`most_lit` limits how many fibers of an ordered pair of servers may carry light."""
        super().__init__(cluster)
        self.light = Spectrum(cluster, most_lit)
        self._slots_matter = self.light.fabric.slots_matter
        if self._slots_matter:
            self.most_orders = MOST_SLOTTED_ORDERS

    def _take(self, assignment: Assignment, devices: Sequence[Device]) -> None:
        super()._take(assignment, devices)
        self.light.commit(assignment.circuits)

    def _release(self, assignment: Assignment, devices: Sequence[Device]) -> None:
        super()._release(assignment, devices)
        self.light.release(assignment.circuits)

    def may_span(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> bool:
        """Whether enough wavelengths are free between each server and the others."""
        if len(blocks) == 1 or not demand.has_light:
            return True
        for server, count in blocks:
            others = [other for other, _ in blocks if other != server]
            needed = int(demand.boundary[count])
            if sum(self.light.room(server, other) for other in others) < needed:
                return False
            if sum(self.light.room(other, server) for other in others) < needed:
                return False
        return True

    def difficulty(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """Jobs on several servers that need the most wavelengths come first."""
        spans = len(blocks) > 1
        return spans, int(demand.boundary.max()) if spans else 0, demand.num_ranks

    def realize(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        demand = options.shapes[row]
        for servers in [layout] if layout is not None else self._layouts(demand, blocks):
            if not self.light.has_room(demand, servers):
                continue
            for devices in self._arrangements(demand, servers):
                circuits = self.light.route(demand, devices)
                if circuits is not None:
                    return self._placed(options, row, devices, circuits)
        return None

    def realize_on(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        demand = options.shapes[row]
        servers = [server for server, _ in devices[:: demand.block]]
        circuits = self.light.route(demand, devices) if self.light.has_room(demand, servers) else None
        return None if circuits is None else self._placed(options, row, devices, circuits)

    def _layouts(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> Iterator[list[int]]:
        """Servers of the blocks to try; inside one server they differ only where slots matter."""
        few = 1 if len(blocks) == 1 else MAX_LAYOUTS
        return layouts(demand, blocks, MOST_SLOTTED if self._slots_matter else few)

    def _arrangements(self, demand: Demand, layout: Sequence[int]) -> Iterator[list[Device]]:
        """Free devices for ranks whose blocks lie on these servers: the first ones, and others where slots matter."""
        if self._slots_matter and demand.num_ranks > 1:
            yield from arrangements(self.light.fabric, demand, layout, self.slots.lit)
        first = self.devices(demand, layout)
        if first is not None:
            yield first
