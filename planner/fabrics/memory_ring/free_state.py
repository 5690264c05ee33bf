"""Free devices, and what is left of the memory nodes between them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Self

from costmodel.fabrics import MemoryNodeRings
from planner.fabrics.claims import Placed
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.free_state import FreeState
from planner.fabrics.memory_ring.demand import NodeDemand
from planner.fabrics.placement import Owned
from planner.fabrics.problem import JobOptions
from planner.model.cluster import Cluster

Node = tuple[int, int]
"""(server, number of the node): it lies between the slot of that number and the next one"""


class NodeFreeState(FreeState):
    """Ranks take DIMMs of the nodes on either side of their slots."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        fabric = cluster.fabric
        assert isinstance(fabric, MemoryNodeRings)
        self.dimms = [[fabric.node_dimms] * fabric.devices_per_server for _ in range(fabric.num_servers)]
        """free DIMMs by server and node; none of nodes that failed"""
        for server, node in cluster.failed_memory_nodes:
            self.dimms[server][node] = 0

    def copy(self) -> Self:
        twin = super().copy()
        twin.dimms = [[*nodes] for nodes in self.dimms]
        return twin

    @property
    def servers_are_counts(self) -> bool:
        return False

    def room(self, demand: Demand) -> Sequence[int]:
        assert isinstance(demand, NodeDemand)
        if not demand.each_side:
            return super().room(demand)
        return [len(self._slots(server, demand)) // demand.part for server in range(len(self.dimms))]

    def devices(self, demand: Demand, layout: Sequence[int]) -> list[Device] | None:
        """The first free devices whose nodes have DIMMs enough, those of the ranks before them taken."""
        assert isinstance(demand, NodeDemand)
        if not demand.each_side:
            return super().devices(demand, layout)
        slots = {server: iter(self._slots(server, demand)) for server in set(layout)}
        found = [(server, slot) for server in layout for slot in islice(slots[server], demand.block)]
        return found if len(found) == demand.num_ranks else None

    def _slots(self, server: int, demand: NodeDemand) -> list[int]:
        """Free slots that ranks of a job may take together, one after the other as long as DIMMs last."""
        left, each, found = [*self.dimms[server]], demand.each_side, list[int]()
        for slot in self.slots.free(server, single=True) if demand.is_single else self.slots.lit[server]:
            if min(left[slot], left[slot - 1]) >= each:
                left[slot] -= each
                left[slot - 1] -= each
                found.append(slot)
        return found

    def slots_beside(self, demand: Demand, held: Sequence[Device]) -> Mapping[int, Sequence[int]]:
        """As many as possible of those whose nodes have DIMMs enough beside the ranks that stay."""
        assert isinstance(demand, NodeDemand)
        free, each = super().slots_beside(demand, held), demand.each_side
        if not each:
            return free
        left = [[dimms // each for dimms in nodes] for nodes in self.dimms]
        for server, slot in held:
            left[server][slot] -= 1
            left[server][slot - 1] -= 1
        return {server: _most(slots, left[server]) for server, slots in free.items()}

    def _take_owned(self, owned: Owned[Any]) -> None:
        for (server, node), amount in owned.counted:
            self.dimms[server][node] -= amount

    def _release_owned(self, owned: Owned[Any]) -> None:
        for (server, node), amount in owned.counted:
            self.dimms[server][node] += amount

    def owned_by(self, placed: Placed) -> Owned[Any] | None:
        return self._owned(placed.configuration.memory_units or 0, self._devices_of(placed))

    def _owned_on(self, options: JobOptions, row: int, devices: Sequence[Device]) -> Owned[Any] | None:
        return self._owned(options.shapes[row].held_units, devices)

    def _owned(self, units: int, devices: Iterable[Device]) -> Owned[Node] | None:
        """DIMMs by node that ranks on these devices hold; None for those that hold none."""
        if not units:
            return None
        found = Counter[Node]()
        for server, slot in devices:
            found[server, slot] += units // 2
            found[server, (slot - 1) % self.per_server] += units // 2
        return Owned((), (), tuple(found.items()))


def _most(slots: Sequence[int], ranks: Sequence[int]) -> list[int]:
    """As many of these slots as possible, of which nodes serve so many `ranks`: one after the other around the ring,
    from a node on that does not make neighbours exclude each other."""
    free, left, number = {*slots}, [*ranks], len(ranks)
    starts = (slot for slot in range(number) if slot not in free or ranks[slot - 1] != 1)
    first, found = next(starts, 0), list[int]()
    for slot in ((first + step) % number for step in range(number)):
        if slot in free and min(left[slot], left[slot - 1]) >= 1:
            left[slot] -= 1
            left[slot - 1] -= 1
            found.append(slot)
    return found
