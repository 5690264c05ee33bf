"""DIMMs of shared memory nodes, as amounts that jobs share."""

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import MemoryNodeRings
from planner.fabrics.problem import Problem
from planner.fabrics.shared_amounts import SharedAmounts
from planner.model.cluster import Cluster

Floats = NDArray[np.float64]


class NodeAmounts(SharedAmounts):
    """Jobs share accelerators, and the DIMMs of memory nodes where these are shared."""

    def are_any(self, cluster: Cluster) -> bool:
        assert isinstance(cluster.fabric, MemoryNodeRings)
        return cluster.fabric.shared_nodes

    def usage(self, problem: Problem) -> list[Floats]:
        """Accelerators, and DIMMs where nodes are shared, R = 1 or 2."""
        fabric = problem.cluster.fabric
        assert isinstance(fabric, MemoryNodeRings)
        if not fabric.shared_nodes:
            return super().usage(problem)
        working = fabric.num_devices - len(problem.cluster.failed_memory_nodes)
        there_is = np.maximum([problem.cluster.num_healthy, working * fabric.node_dimms], 1e-9)
        uses = ([(shape.num_ranks, shape.num_ranks * shape.held_units) for shape in o.shapes] for o in problem.options)
        return [np.array(rows, np.float64).reshape(-1, len(there_is)) / there_is for rows in uses]
