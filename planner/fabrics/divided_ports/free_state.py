"""Free devices, and what servers have left of the appliances that their devices share."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.placement import Owned
from planner.fabrics.problem import JobOptions
from planner.fabrics.server_shares.demand import amounts_of
from planner.fabrics.server_shares.free_shares import FreeShares
from planner.model.cluster import Cluster


class SharedFreeState(FreeState):
    """Ranks take modules, ports and units of a second tier of the appliances of their server."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        self.shares = FreeShares.of(cluster)

    def copy(self) -> Self:
        twin = super().copy()
        twin.shares = self.shares.copy()
        return twin

    def _take_owned(self, owned: Owned[Any]) -> None:
        self.shares.take(owned.counted)

    def _release_owned(self, owned: Owned[Any]) -> None:
        self.shares.take(owned.counted, -1)

    def owned_by(self, placed: Placed) -> Owned[Any] | None:
        return self.shares.owned(placed.configuration.held, self._devices_of(placed))

    def _owned_on(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Owned[Any] | None:
        return self.shares.owned(amounts_of(options.shapes[row]), devices)

    def room(self, demand: Demand) -> Sequence[int]:
        if not self.shares.are_any:
            return super().room(demand)
        counts = self.any if demand.is_single else self.lit
        return [self.shares.room(demand, server, free) // demand.part for server, free in enumerate(counts)]

    def slots_beside(self, demand: Demand, held: Sequence[Device]) -> Mapping[int, Sequence[int]]:
        return self.shares.slots_beside(demand, held, super().slots_beside(demand, held))
