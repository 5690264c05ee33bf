"""Free devices of rails of optical circuit switches while jobs come and go."""

from collections.abc import Iterable
from math import inf
from operator import and_

from planner.fabrics.fast_state import Search, State, require_time
from planner.fabrics.free_state import Blocks
from planner.fabrics.job_class import Option
from planner.fabrics.ocs_rail.free_state import RailFreeState
from planner.fabrics.ocs_rail.rails import on_rails
from planner.fabrics.placement import Placement
from planner.model.cluster import Cluster


class OcsRailState(State):
    """Jobs with circuits take one block of each server, all on the same rails."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster)
        assert isinstance(self.board, RailFreeState)
        self.rails = self.board.rails
        servers = range(cluster.fabric.num_servers)
        self._ported = [sum(1 << slot for slot in cluster.lit_slots(server)) for server in servers]
        """masks of the slots whose port works, by server"""

    def ways(self, row: Option, search: Search) -> Iterable[Blocks]:
        if not row.shape.chooses_servers:
            return super().ways(row, search)
        pairs, barred = enumerate(map(and_, self.free, self._ported)), search.barred
        return on_rails(self.rails, row.shape, [0 if server in barred else slots for server, slots in pairs])

    def realize(self, row: Option, blocks: Blocks, deadline_s: float = inf) -> Placement | None:
        if not row.shape.chooses_servers:
            return super().realize(row, blocks, deadline_s)
        require_time(deadline_s)
        lit, block = self.slots.lit, row.shape.block
        common = self.rails.common(row.shape, [lit[server] for server, _ in blocks])[:block]
        if len(common) < block:
            return None
        devices = tuple((server, rail) for server, _ in blocks for rail in common)
        switches = frozenset((rail, i) for rail in common for i in self.rails.switches[rail][: row.shape.num_ports])
        return Placement(row, devices, devices, switches=switches)
