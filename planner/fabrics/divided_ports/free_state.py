"""Free devices, and what servers have left of the appliances that their devices share."""

from collections.abc import Sequence

from planner.fabrics.demand import Demand
from planner.fabrics.divided_ports.free_shares import FreeShares
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.model.cluster import Cluster
from planner.model.plan import Assignment


class SharedFreeState(FreeState):
    """Ranks take modules and ports of the appliances of their server."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.shares = FreeShares.of(cluster)

    def _take(self, assignment: Assignment, devices: Sequence[Device]) -> None:
        super()._take(assignment, devices)
        self.shares.take(assignment.configuration, devices)

    def _release(self, assignment: Assignment, devices: Sequence[Device]) -> None:
        super()._release(assignment, devices)
        self.shares.take(assignment.configuration, devices, -1)

    def room(self, demand: Demand) -> Sequence[int]:
        if not self.shares.modules:
            return super().room(demand)
        counts = self.slots.counts(single=demand.num_ranks == 1)
        return [self.shares.room(demand, server, free) // demand.part for server, free in enumerate(counts)]
