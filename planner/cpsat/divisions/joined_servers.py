"""Servers over which a job may be divided, by what fibers join them: where light crosses no third server."""

from collections.abc import Collection, Sequence
from functools import cache
from itertools import combinations

from planner.cpsat.divisions.ways import Division
from planner.fabrics.demand import Demand
from planner.formulation.step_one import PairLight
from planner.formulation.variables import Pair

Servers = tuple[int, ...]
"""in ascending order"""
Needs = tuple[int, bool]
"""Least wavelengths that leave each server of a job, of two as many one way as the other; and whether some of its
servers may hold all that exchanges light, so that no fiber need join them with the others"""


def needs_of(links: PairLight, division: Division, shape: Demand) -> Needs:
    """What a job of this demand needs where it is so divided, wherever its parts lie."""
    leaving = links.leaving(shape)
    counts = [ranks // shape.part for ranks in division]
    light = [leaving[count] for count in counts]
    if len(counts) == 2:
        return max(light), max(light) == 0
    sums = {0}
    for count in counts:
        sums |= {each + count for each in sums}
    return min(light), any(leaving.get(each, -1) == 0 for each in sums - {0, sum(counts)})


class JoinedServers:
    """Sets of servers, and which of them have what a divided job needs."""

    def __init__(self, links: PairLight, servers: Collection[int]) -> None:
        self._links, self._servers = links, sorted(servers)
        self._near: dict[int, dict[int, int]] = {server: {} for server in self._servers}
        for (a, b), carried in links.carried.items():
            self._near[a][b] = self._near[b][a] = carried
        self.having = cache(self._having)

    def _having(self, number: int, needs: Needs) -> Sequence[Servers]:
        """So many servers of which each can send the others the light; joined ones, unless some may lie apart."""
        light, may_part = needs
        return [
            on
            for on in combinations(self._servers, number)
            if all(sum(self._near[a].get(b, 0) for b in on) >= light for a in on) and (may_part or self._are_joined(on))
        ]

    def _are_joined(self, servers: Servers) -> bool:
        reached, new = {servers[0]}, [servers[0]]
        while new:
            new = [b for a in new for b in self._near[a] if b in servers and b not in reached]
            reached.update(new)
        return len(reached) == len(servers)

    def pairs(self, servers: Servers) -> list[Pair]:
        """Those of them that fibers join."""
        return [pair for pair in combinations(servers, 2) if pair[1] in self._near[pair[0]]]
