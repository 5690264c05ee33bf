"""Servers over which a job may be divided, by what fibers join them: where light crosses no third server."""

from collections.abc import Collection, Iterator, Mapping, Sequence
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


def is_dark(links: PairLight, division: Division, shape: Demand) -> bool:
    """Whether no part of a job so divided exchanges light with another one: each of them needs devices alone, and two
    of them may lie in one server."""
    leaving = links.leaving(shape)
    return not shape.is_even and all(leaving.get(ranks // shape.part, 0) == 0 for ranks in division)


def needs_of(links: PairLight, division: Division, shape: Demand) -> Needs:
    """What a job of this demand needs where it is so divided, wherever its parts lie."""
    leaving = links.leaving(shape)
    counts = [ranks // shape.part for ranks in division]
    light = [leaving[count] for count in counts]
    if len(counts) == 2:
        return max(light), max(light) == 0
    if 0 not in leaving.values():
        return min(light), False
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

    def renamed(self, servers: Servers) -> Iterator[Mapping[int, int]]:
        """Servers that these may be renamed to, those first: fibers between the others carry no more light."""
        yield {server: server for server in servers}
        yield from (names for names in self._renamed(servers, {}) if any(a != b for a, b in names.items()))

    def _renamed(self, servers: Servers, names: Mapping[int, int]) -> Iterator[Mapping[int, int]]:
        """Names of all of these, some of which are given."""
        if len(names) == len(servers):
            yield names
            return
        server = servers[len(names)]
        for new in self._servers:
            light = ((self._near[server].get(a, 0), self._near[new].get(b, 0)) for a, b in names.items())
            if new not in names.values() and all(most >= carried for most, carried in light):
                yield from self._renamed(servers, {**names, server: new})

    def pairs(self, servers: Servers) -> list[Pair]:
        """Those of them that fibers join."""
        return [pair for pair in combinations(servers, 2) if pair[1] in self._near[pair[0]]]
