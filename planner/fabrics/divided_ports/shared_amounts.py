"""Modules and ports of appliances, as amounts that jobs share."""

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.divided_ports.free_shares import FreeShares
from planner.fabrics.problem import Problem
from planner.fabrics.shared_amounts import SharedAmounts
from planner.model.cluster import Cluster

Floats = NDArray[np.float64]


class ApplianceAmounts(SharedAmounts):
    """Jobs share accelerators, and the appliances of servers where these are shared."""

    def are_any(self, cluster: Cluster) -> bool:
        return bool(FreeShares.of(cluster).modules)

    def usage(self, problem: Problem) -> list[Floats]:
        """Accelerators, modules and ports, R = 3."""
        shares = FreeShares.of(problem.cluster)
        there_is = np.maximum([problem.cluster.num_healthy, sum(shares.modules), sum(shares.ports)], 1e-9)
        uses = (
            [
                (shape.num_ranks, shape.num_ranks * shape.held_units, shape.num_ranks * shape.held_io)
                for shape in job.shapes
            ]
            for job in problem.options
        )
        return [np.array(rows, np.float64).reshape(-1, len(there_is)) / there_is for rows in uses]
