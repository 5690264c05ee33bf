"""A few servers whose devices share memory nodes as a problem of their own."""

from collections.abc import Mapping, Sequence

from costmodel.fabrics import MemoryNodeRings
from planner.fabrics.problem import Problem
from planner.fabrics.windows import RackWindows, Windows
from planner.model.cluster import Cluster
from planner.model.health import Health
from planner.model.plan import Assignment


class MemoryRingWindows(RackWindows):
    """Some DIMMs of a node are no part that could have failed by itself: where nodes are shared whole racks alone."""

    def are_possible(self, cluster: Cluster) -> bool:
        """Where nodes are not shared."""
        assert isinstance(cluster.fabric, MemoryNodeRings)
        return not cluster.fabric.shared_nodes

    def held(
        self, problem: Problem, fixed: Sequence[Assignment], servers: Sequence[int], names: Mapping[int, str]
    ) -> Health:
        """As of servers joined by packets where nodes are not shared."""
        if self.are_possible(problem.cluster):
            return Windows.held(self, problem, fixed, servers, names)
        return super().held(problem, fixed, servers, names)
