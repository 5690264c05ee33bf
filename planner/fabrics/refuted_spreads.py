"""Spreads over servers of a rack that light has refused, remembered until something in the rack changes."""

from collections.abc import Iterable, Sequence

from planner.fabrics.demand import Demand
from planner.fabrics.search import Blocks

ALIKE = -1
"""stands for all racks alike in which nothing is taken"""


class RefutedSpreads:
    """Refused spreads of demands by rack; racks alike in which nothing is taken refuse the same."""

    def __init__(self, servers: int, free: Sequence[int], whole: Sequence[int]) -> None:
        """`servers` of each rack; `free` has the devices that are free in each rack whenever it is read, `whole` as
        many as are free in one that is like all others while nothing is taken, or -1."""
        self._servers, self._free, self._whole = servers, free, whole
        self._refuted: dict[int, set[object]] = {}

    @property
    def are_any(self) -> bool:
        """True if some refused spread is remembered."""
        return bool(self._refuted)

    def changed(self, servers: Iterable[int]) -> None:
        """Something was taken or given back on these servers."""
        for rack in {server // self._servers for server in servers}:
            self._refuted.pop(rack, None)

    def has(self, demand: Demand, blocks: Blocks) -> bool:
        """True if the demand was refused these blocks, or the same ones of a rack alike, and nothing has changed."""
        rack, key = self._key(demand, blocks)
        return key in self._refuted.get(rack, ())

    def add(self, demand: Demand, blocks: Blocks) -> None:
        """The demand found no light between these blocks."""
        rack, key = self._key(demand, blocks)
        self._refuted.setdefault(rack, set()).add(key)

    def _key(self, demand: Demand, blocks: Blocks) -> tuple[int, object]:
        rack = blocks[0][0] // self._servers
        if self._free[rack] != self._whole[rack]:
            return rack, (demand, *blocks)
        first = rack * self._servers
        return ALIKE, (demand, *((server - first, count) for server, count in blocks))
