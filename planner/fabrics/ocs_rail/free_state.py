"""Free devices by rail: a job with circuits takes the same rails on all its servers."""

from collections.abc import Iterator, Sequence

from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import Blocks, FreeState, Strategy
from planner.fabrics.ocs_rail.rails import FreeRails, on_rails
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster
from planner.model.plan import Assignment


class RailFreeState(FreeState):
    """Rail q joins slot q of all servers through switches of its own."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.rails = FreeRails(cluster)

    def spreads(self, demand: Demand, strategy: Strategy) -> Iterator[Blocks]:
        """A job with circuits takes servers that have rails in common, whatever the strategy."""
        if not demand.num_ports:
            return super().spreads(demand, strategy)
        return on_rails(self.rails, demand, [sum(1 << slot for slot in slots) for slots in self.slots.lit])

    def is_apart(self, demand: Demand) -> bool:
        return demand.is_even or demand.num_ports > 0

    def difficulty(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """Jobs with the most ports come first."""
        return demand.num_ports > 0, demand.num_ports, demand.num_ranks

    def realize(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        demand = options.shapes[row]
        if not demand.num_ports:
            return super().realize(options, row, blocks, layout)
        servers = [server for server, _ in blocks]
        rails = self.rails.common(demand, [self.slots.lit[server] for server in servers])[: demand.block]
        return self.realize_on_rails(options, row, servers, rails)

    def realize_on(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Assignment | None:
        """None where the devices are not those of the same rails on all servers, or too few switches work."""
        demand = options.shapes[row]
        if not demand.num_ports:
            return super().realize_on(options, row, devices)
        servers = [server for server, _ in devices[:: demand.block]]
        rails = [slot for _, slot in devices[: demand.block]]
        common = self.rails.common(demand, [self.slots.lit[server] for server in servers])
        if not set(common).issuperset(rails) or [(s, rail) for s in servers for rail in rails] != list(devices):
            return None
        return self.realize_on_rails(options, row, servers, rails)

    def realize_on_rails(
        self, options: JobOptions, row: int, servers: Sequence[int], rails: Sequence[int]
    ) -> Assignment | None:
        """Place a candidate with one block on each of these servers, on these rails, and take it; None where rails or
        servers are too few."""
        demand = options.shapes[row]
        if len(rails) < demand.block or len(servers) != demand.num_blocks:
            return None
        devices = [(server, rail) for server in servers for rail in rails]
        return self._placed(options, row, devices, self.rails.circuits(demand, devices))
