"""Spreads over servers of a rack that light has refused, remembered until something in the rack changes."""

from collections.abc import Sequence

from planner.fabrics.demand import Demand
from planner.fabrics.search import Blocks


class RefutedSpreads:
    """Refused spreads of demands by rack and by number of changes to it; racks alike in which nothing is taken refuse
    the same."""

    def __init__(self, servers: int, free: Sequence[int], whole: Sequence[int]) -> None:
        """`servers` of each rack; `free` has the devices that are free in each rack whenever it is read, `whole` as
        many as are free in one that is like all others while nothing is taken, or -1."""
        self._servers, self._free, self._whole = servers, free, whole
        self._changes = [0] * len(free)
        self._refuted: set[object] = set()

    def changed(self, servers: Sequence[int]) -> None:
        """Something was taken or given back on these servers."""
        for rack in {server // self._servers for server in servers}:
            self._changes[rack] += 1

    def has(self, demand: Demand, blocks: Blocks) -> bool:
        """True if the demand was refused these blocks, or the same ones of a rack alike, and nothing has changed."""
        return self._key(demand, blocks) in self._refuted

    def add(self, demand: Demand, blocks: Blocks) -> None:
        """The demand found no light between these blocks."""
        self._refuted.add(self._key(demand, blocks))

    def _key(self, demand: Demand, blocks: Blocks) -> object:
        rack = blocks[0][0] // self._servers
        if self._free[rack] == self._whole[rack]:
            return demand, tuple((server - rack * self._servers, count) for server, count in blocks)
        return demand, rack, self._changes[rack], tuple(blocks)
