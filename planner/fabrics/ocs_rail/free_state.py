"""Free devices by rail: a job with circuits takes the same rails on all its servers."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from math import inf
from operator import and_
from typing import Any, Self

from planner.fabrics.added_devices import BegunParts
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.job_class import Option
from planner.fabrics.ocs_rail.added_rails import grown_on_rails
from planner.fabrics.ocs_rail.rails import FreeRails, ServersByRails, on_rails
from planner.fabrics.ocs_rail.rails_by_rack import on_rails_by_rack
from planner.fabrics.placement import Owned, Placement
from planner.fabrics.problem import JobOptions
from planner.fabrics.search import Blocks, Search, require_time
from planner.model.cluster import Cluster
from planner.model.plan import Assignment


class RailFreeState(FreeState):
    """Rail q joins slot q of all servers through switches of its own."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.rails = FreeRails(cluster)
        servers = range(cluster.fabric.num_servers)
        self._ported = [sum(1 << slot for slot in cluster.lit_slots(server)) for server in servers]
        """masks of the slots whose port works, by server"""
        self._by_rails: ServersByRails | None = None
        """servers by their free slots with a port, where that was asked for"""

    def copy(self) -> Self:
        twin = super().copy()
        twin._by_rails = None
        return twin

    def spreads(self, demand: Demand, search: Search) -> Iterable[Blocks]:
        """A job with circuits takes servers that have rails in common, whatever the strategy."""
        if not demand.chooses_servers:
            return super().spreads(demand, search)
        lit = map(and_, self.free, self._ported)
        if demand.servers_by_rack is not None:
            open_to = [0 if server in search.barred else slots for server, slots in enumerate(lit)]
            return on_rails_by_rack(self.rails, demand, open_to)
        if search.barred:
            some = ServersByRails([0 if server in search.barred else slots for server, slots in enumerate(lit)])
            return on_rails(self.rails, demand, some)
        if self._by_rails is None:
            self._by_rails = ServersByRails([*lit])
        return on_rails(self.rails, demand, self._by_rails)

    def grown_around(
        self, row: Option, held: BegunParts, barred: frozenset[int], deadline_s: float
    ) -> Iterator[list[Device]]:
        if not row.shape.chooses_servers:
            return super().grown_around(row, held, barred, deadline_s)
        return grown_on_rails(self.rails, row.shape, held, [*map(and_, self.free, self._ported)], barred, deadline_s)

    def _changed(self, servers: Collection[int], owned: Owned[Any] | None) -> None:
        super()._changed(servers, owned)
        if self._by_rails is not None:
            for server in servers:
                self._by_rails.changed(server, self.free[server] & self._ported[server])

    def difficulty(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """Jobs with the most ports come first."""
        return demand.num_ports > 0, demand.num_ports, demand.num_ranks

    def _common_rails(self, demand: Demand, servers: Sequence[int]) -> list[int]:
        """Rails that a job may take on these servers, those with the fewest switches first."""
        return self.rails.common(demand, [self.slots.lit[server] for server in servers])

    def realize_in_rack(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        demand = row.shape
        if not demand.chooses_servers:
            return super().realize_in_rack(row, blocks, deadline_s)
        require_time(deadline_s)
        common = self._common_rails(demand, [server for server, _ in blocks])[: demand.block]
        if len(common) < demand.block:
            return None
        devices = tuple((server, rail) for server, _ in blocks for rail in common)
        switches = frozenset((rail, i) for rail in common for i in self.rails.switches[rail][: demand.num_ports])
        return Placement(row, devices, devices, switches=switches)

    def assign_in_rack(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        demand = options.shapes[row]
        if not demand.chooses_servers:
            return super().assign_in_rack(options, row, blocks, layout)
        servers = [server for server, _ in blocks]
        return self.assign_on_rails(options, row, servers, self._common_rails(demand, servers)[: demand.block])

    def assign_on_in_rack(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        """None where the devices are not those of the same rails on all servers, or too few switches work."""
        demand = options.shapes[row]
        if not demand.chooses_servers:
            return super().assign_on_in_rack(options, row, devices)
        servers = [server for server, _ in devices[:: demand.block]]
        rails = [slot for _, slot in devices[: demand.block]]
        common = self._common_rails(demand, servers)
        if not set(common).issuperset(rails) or [(s, rail) for s in servers for rail in rails] != list(devices):
            return None
        return self.assign_on_rails(options, row, servers, rails)

    def assign_on_rails(
        self, options: JobOptions, row: int, servers: Sequence[int], rails: Sequence[int]
    ) -> Assignment | None:
        """Place a candidate with one block on each of these servers, on these rails, and take it; None where rails or
        servers are too few."""
        demand = options.shapes[row]
        if len(rails) < demand.block or len(servers) != demand.num_blocks:
            return None
        devices = [(server, rail) for server in servers for rail in rails]
        return self._assigned(options, row, devices, circuits=self.rails.circuits(demand, devices))
