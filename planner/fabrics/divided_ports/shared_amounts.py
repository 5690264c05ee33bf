"""Modules, ports and second-tier units of appliances, as amounts that jobs share."""

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.divided_ports.block_prices import BlockPrices
from planner.fabrics.divided_ports.demand import amounts_of
from planner.fabrics.divided_ports.free_shares import FreeShares
from planner.fabrics.problem import Problem
from planner.fabrics.shared_amounts import SharedAmounts
from planner.model.cluster import Cluster

Floats = NDArray[np.float64]


class ApplianceAmounts(SharedAmounts):
    """Jobs share accelerators, and the appliances of servers where these are shared."""

    def are_any(self, cluster: Cluster) -> bool:
        return FreeShares.of(cluster).are_any

    def usage(self, problem: Problem) -> list[Floats]:
        """Accelerators, modules, ports, and units where there are any, R = 3 or 4."""
        totals = [sum(left) for left in FreeShares.of(problem.cluster).free]
        there = [what for what, amount in enumerate(totals) if amount]
        there_is = np.maximum([problem.cluster.num_healthy, *(totals[what] for what in there)], 1e-9)
        uses = ([(1, *(amounts_of(shape)[what] for what in there)) for shape in job.shapes] for job in problem.options)
        return [
            job.candidates.num_devices[:, None] * np.array(rows, np.float64).reshape(-1, len(there_is)) / there_is
            for job, rows in zip(problem.options, uses, strict=True)
        ]

    def packed(self, problem: Problem) -> tuple[float, tuple[Floats, ...]] | None:
        """By prices of blocks."""
        prices = BlockPrices.of(problem)
        return None if prices is None else (prices.bound, prices.rows)
