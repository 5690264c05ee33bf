"""Memory that the accelerators of a server share, as amounts that jobs share."""

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.problem import Problem
from planner.fabrics.server_shares.demand import amounts_of
from planner.fabrics.server_shares.free_shares import FreeShares
from planner.fabrics.shared_amounts import SharedAmounts
from planner.model.cluster import Cluster

Floats = NDArray[np.float64]


class ShareAmounts(SharedAmounts):
    """Jobs share accelerators, and parts of memory where these are shared."""

    def are_any(self, cluster: Cluster) -> bool:
        return FreeShares.of(cluster).are_any

    def usage(self, problem: Problem) -> list[Floats]:
        """Accelerators, then each of `Amounts` of which servers have any."""
        totals = [sum(left) for left in FreeShares.of(problem.cluster).free]
        there = [what for what, amount in enumerate(totals) if amount]
        there_is = np.maximum([problem.cluster.num_healthy, *(totals[what] for what in there)], 1e-9)
        uses = ([(1, *(amounts_of(shape)[what] for what in there)) for shape in job.shapes] for job in problem.options)
        return [
            job.candidates.num_devices[:, None] * np.array(rows, np.float64).reshape(-1, len(there_is)) / there_is
            for job, rows in zip(problem.options, uses, strict=True)
        ]
