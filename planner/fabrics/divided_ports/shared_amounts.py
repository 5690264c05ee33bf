"""Appliances, as amounts that jobs share, and what one server holds of them."""

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.divided_ports.block_prices import BlockPrices
from planner.fabrics.problem import Problem
from planner.fabrics.server_shares.shared_amounts import ShareAmounts

Floats = NDArray[np.float64]


class ApplianceAmounts(ShareAmounts):
    """Bounds by prices of blocks, too."""

    def packed(self, problem: Problem) -> tuple[float, tuple[Floats, ...]] | None:
        prices = BlockPrices.of(problem)
        return None if prices is None else (prices.bound, prices.rows)
