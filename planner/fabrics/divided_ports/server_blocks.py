"""What one server holds: blocks of jobs within its accelerators, and what these share of appliances."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from planner.fabrics.demand import Demand
from planner.fabrics.problem import Problem
from planner.fabrics.server_shares.demand import amounts_of
from planner.fabrics.server_shares.free_shares import FreeShares

Ints = NDArray[np.int64]
Room = tuple[int, ...]
"""accelerators, then each of `Amounts` of which servers have any"""


def axes_of(problem: Problem) -> list[int]:
    """Places among `Amounts` of what servers share."""
    return [axis for axis, left in enumerate(FreeShares.of(problem.cluster).free) if any(left)]


def taken(demand: Demand, axes: Sequence[int]) -> Room:
    """What a block takes of its server."""
    each = amounts_of(demand)
    return demand.part, *(demand.part * each[axis] for axis in axes)


def servers_by_room(problem: Problem) -> dict[Room, list[int]]:
    """Servers by what they have, nothing taken; none where servers share nothing."""
    cluster, axes, shares = problem.cluster, axes_of(problem), FreeShares.of(problem.cluster)
    servers: dict[Room, list[int]] = {}
    for server in range(cluster.fabric.num_servers) if axes else ():
        there = len(cluster.healthy_slots(server)), *(shares.free[axis][server] for axis in axes)
        servers.setdefault(there, []).append(server)
    return servers


@dataclass(frozen=True)
class ServerBlocks:
    """K kinds of blocks, of which a server holds any number that it has room for."""

    kinds: Ints
    """(K, D): what a block takes of each of D amounts, one accelerator or more first"""
    room: Room
    """of the largest server"""

    def most(self, prices: Ints) -> Ints:
        """The most that blocks are worth at prices (K,) of each kind, in a server that has so much; shape: `room`, and
        1 more of each.

        An unbounded knapsack, exact in integers.
        """
        table = np.zeros(tuple(there + 1 for there in self.room), np.int64)
        worth = [
            (self.kinds[kind].tolist(), int(prices[kind]))
            for kind in self._undominated(prices)
            if (self.kinds[kind] <= self.room).all()
        ]
        for devices in range(1, self.room[0] + 1):
            layer = table[devices]
            layer[...] = table[devices - 1]
            for (own, *others), price in worth:
                if own <= devices:
                    after = tuple(slice(takes, None) for takes in others)
                    before = tuple(slice(there + 1 - takes) for there, takes in zip(self.room[1:], others, strict=True))
                    np.maximum(layer[after], table[devices - own][before] + price, out=layer[after])
        return table

    def _undominated(self, prices: Ints) -> Sequence[int]:
        """Kinds with a price, but for those that take no less than one of no lower price."""
        kept = list[int]()
        for kind in np.lexsort((*self.kinds.T, -prices)).tolist():
            if prices[kind] > 0 and not (self.kinds[kept] <= self.kinds[kind]).all(axis=1).any():
                kept.append(kind)
        return kept

    def filled(self, prices: Ints, table: Ints, room: Room) -> Ints:
        """Blocks (K,) that a server with so much room has where they are worth the most."""
        counts, left = np.zeros(len(self.kinds), np.int64), np.array(room)
        while table[tuple(left)] > 0:
            fits = np.flatnonzero((self.kinds <= left).all(axis=1) & (prices > 0))
            after = left - self.kinds[fits]
            attained = np.flatnonzero(table[tuple(after.T)] + prices[fits] == table[tuple(left)])
            if len(attained):
                counts[fits[attained[0]]] += 1
                left = after[attained[0]]
            else:
                left[0] -= 1
        return counts
