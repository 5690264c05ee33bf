"""Free devices, memory units, ports and uplinks: a job is placed with first-fit memory and circuits."""

from collections.abc import Sequence

from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState, runs
from planner.fabrics.problem import JobOptions
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import Connected, FreePool, Wires
from planner.model.cluster import Cluster
from planner.model.plan import Assignment


class PoolFreeState(FreeState):
    """Ranks take memory units behind ports of their server; jobs take rails and uplinks."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.pool = FreePool(cluster)
        self._units = [rack.num_units for rack in self.pool.racks]
        self._ports = [sum(map(rack.num_ports, rack.ports)) for rack in self.pool.racks]

    def _take(self, assignment: Assignment, devices: Sequence[Device]) -> None:
        super()._take(assignment, devices)
        self.pool.take(assignment)
        self._count(assignment, -1)

    def _release(self, assignment: Assignment, devices: Sequence[Device]) -> None:
        super()._release(assignment, devices)
        self.pool.release(assignment)
        self._count(assignment, 1)

    def _count(self, assignment: Assignment, sign: int) -> None:
        for circuit in assignment.memory:
            server = self.pool.fabric.parse_tray_port(circuit.port)[0]
            self._units[server] += sign * len(circuit.units)
            self._ports[server] += sign

    def room(self, demand: Demand) -> Sequence[int]:
        if not demand.memory_units:
            return super().room(demand)
        asked, block = PoolDemand.of(demand), demand.part
        left = zip(self.slots.counts(single=demand.num_ranks == 1), self._units, self._ports, strict=True)
        return [min(ranks, units // asked.units, ports // asked.memory_io) // block for ranks, units, ports in left]

    def difficulty(self, demand: Demand, blocks: Sequence[tuple[int, int]]) -> tuple[float, ...]:
        """Jobs on several servers with the most circuits to memory come first."""
        has_rest = demand.held_units % self.pool.fabric.port_units > 0
        return len(blocks) > 1, 2 * demand.held_io + has_rest, demand.held_units * demand.num_ranks

    def realize(
        self, options: JobOptions, row: int, blocks: Sequence[tuple[int, int]], layout: Sequence[int] | None = None
    ) -> Assignment | None:
        """Blocks in runs, server after server."""
        demand = options.shapes[row]
        devices = self.devices(demand, layout or runs(blocks))
        found = None if devices is None else self.pool.connect(demand, devices)
        if devices is None or found is None:
            return None
        return self._connected(options, row, devices, found)

    def commit(self, options: JobOptions, row: int, devices: Sequence[Device], wires: Wires) -> Assignment:
        """Place a candidate with rank i on devices[i] and with these rails and plugs, and take it."""
        return self._connected(options, row, devices, self.pool.commit(options.shapes[row], devices, *wires))

    def _connected(self, options: JobOptions, row: int, devices: Sequence[Device], found: Connected) -> Assignment:
        """The candidate with circuits that the pool has given already."""
        self.slots.take(devices)
        names = [self.cluster.fabric.device_name(*device) for device in devices]
        assignment = options.assignment(row, names, *found)
        self._count(assignment, -1)
        return assignment
