"""Servers over which a job may be divided, by what fibers join them: where light crosses no third server."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import combinations
from math import gcd
from typing import NamedTuple

from planner.cpsat.divisions.arrangements import Parting, arrangements, parting_of, sums_of
from planner.cpsat.divisions.ways import Division, RowNeeds
from planner.fabrics.demand import Demand
from planner.formulation.step_one import PairLight
from planner.formulation.variables import Pair

BOTH_WAYS = 2
"""a fiber pair's light is counted there and back together"""
PAIR = 2
"""servers between which a job has no more than one cut, either part on either of them"""
MOST_ACROSS = 2
"""pairs that join two sets of servers up to which it is said that light crosses them"""
Servers = tuple[int, ...]
"""in ascending order"""


class Needs(NamedTuple):
    """What a job needs of the servers that it is divided over."""

    light: int
    """least wavelengths that leave each of them, of two as many one way as the other"""
    may_part: bool
    """whether some of them may hold all that exchanges light, so that no fiber need join them with the others"""
    across: int = 0
    """least wavelengths that leave some of them for the others"""
    ranks: tuple[int, ...] = ()
    """least ranks of one without which fibers would not join the others: they would fall into 2, 3, ... sets"""


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
        return Needs(max(light), max(light) == 0)
    across = min(leaving.values())
    if across > 0:
        ranks = _ranks_between(links.exchanged(shape), across, len(counts) - 1, shape)
        return Needs(min(light), False, across, ranks)
    sums = {0}
    for count in counts:
        sums |= {each + count for each in sums}
    may_part = any(leaving.get(each, -1) == 0 for each in sums - {0, sum(counts)})
    return Needs(min(light), may_part, ranks=(0,) * (len(counts) - 2))


def _ranks_between(exchanged: Sequence[int], across: int, most_sets: int, shape: Demand) -> tuple[int, ...]:
    """Least ranks of a server that alone joins 2, 3, ... sets of others: each set sends it so much light at least, and
    receives as much."""
    counts = range(shape.num_parts)
    return tuple(
        shape.part * next((c for c in counts if exchanged[c] >= BOTH_WAYS * sets * across), shape.num_parts)
        for sets in range(2, most_sets + 1)
    )


class Arranged(NamedTuple):
    """How a job may lie on some servers."""

    numbers: Mapping[int, frozenset[int]]
    """of its ranks, that each of them may have"""
    beside: Sequence[frozenset[int]] = ()
    """of its ranks on the one side of every cut"""


Places = Mapping[Servers, Arranged]


class OnServers(NamedTuple):
    """A job lies on these servers in a way that needs this of them."""

    job: int
    needs: Needs
    servers: Servers


class JoinedServers:
    """Sets of servers, and which of them have what a divided job needs."""

    def __init__(self, links: PairLight, servers: Collection[int]) -> None:
        self.links, self._servers = links, sorted(servers)
        self._near: dict[int, dict[int, int]] = {server: {} for server in self._servers}
        for (a, b), carried in links.carried.items():
            self._near[a][b] = self._near[b][a] = carried
        self.having, self.reach, self.places = cache(self._having), cache(self._reach), cache(self._places)
        self.apart, self.cuts, self.parting = cache(self._apart), cache(self._cuts), cache(partial(parting_of, links))
        self._ordered, self._place = cache(self._ordered_by_fibers), cache(self._place_on)
        self.needs, self.asks = cache(partial(needs_of, links)), cache(self._asks)
        self._arranged, self._fiber = cache(self._arranged_with), gcd(*links.carried.values()) or 1

    def _having(self, number: int, needs: Needs) -> Sequence[Servers]:
        """So many servers of which each can send the others the light; joined ones, unless some may lie apart."""
        return [
            on
            for on in combinations(self._servers, number)
            if self.reach(on)[-1] >= needs.light and (needs.may_part or self._num_sets(on) == 1)
        ]

    def _places(self, division: Division, shape: Demand) -> Places:
        """Where a job of this demand may lie that needs fibers and is so divided."""
        needs = self.needs(division, shape)
        if len(division) == PAIR:
            return {on: Arranged(dict.fromkeys(on, frozenset(division))) for on in self.having(PAIR, needs)}
        return self._arranged(needs, self.parting(division, shape).in_fibers(self._fiber))

    def _arranged_with(self, needs: Needs, parting: Parting) -> Places:
        """The same of more than two parts."""
        found = ((on, self._place(on, parting)) for on in self.having(len(parting.division), needs))
        return {on: place for on, place in found if place is not None}

    def _asks(self, division: Division, shape: Demand) -> RowNeeds | None:
        """What a job of this demand asks for where it is so divided; None where no servers have a place for it."""
        if len(division) == 1:
            return RowNeeds()
        needs, parting = self.needs(division, shape), self.parting(division, shape)
        if not (is_dark(self.links, division, shape) or self.places(division, shape)):
            return None
        met = (-ranks for ranks in parting.apart)
        return RowNeeds((needs.light, needs.across, *needs.ranks, *parting.light, *met), needs.may_part)

    def _place_on(self, on: Servers, parting: Parting) -> Arranged | None:
        """None where no arrangement of the parts is left."""
        division, order = parting.division, self._ordered(on)
        carried = tuple(tuple(self._near[a].get(b, 0) for b in order) for a in order)
        lines = arrangements(carried, parting)
        if lines is None:
            return Arranged(dict.fromkeys(on, frozenset(division)), [sums_of(division)] * len(self.cuts(on)))
        numbers = {server: frozenset(lines[:, i].tolist()) for i, server in enumerate(order)}
        sides = [[i for i, server in enumerate(order) if server in side] for side, _ in self.cuts(on)]
        beside = [frozenset(lines[:, side].sum(axis=1).tolist()) for side in sides]
        return Arranged(numbers, beside) if len(lines) else None

    def _ordered_by_fibers(self, servers: Servers) -> Servers:
        """Each of them beside those before it where fibers allow, so that many sets look alike and few fibers leave
        the first ones."""
        order, left = list[int](), [*servers]
        while left:
            near = {server: len(self._near[server].keys() & {*left}) for server in left}
            joined = {server: len(self._near[server].keys() & {*order}) for server in left}
            order.append(min(left, key=lambda server: (-joined[server], near[server])))
            left.remove(order[-1])
        return tuple(order)

    def _reach(self, servers: Servers) -> Sequence[int]:
        """Wavelengths that each of them can send the others, descending."""
        return sorted((sum(self._near[a].get(b, 0) for b in servers) for a in servers), reverse=True)

    @property
    def joined_sets(self) -> Sequence[Servers]:
        """All servers, in sets that no fiber joins."""
        return self._sets_of(self._servers)

    def _num_sets(self, servers: Collection[int]) -> int:
        """Into how many sets that no fiber joins they fall."""
        return len(self._sets_of(servers))

    def _sets_of(self, servers: Collection[int]) -> list[Servers]:
        left, sets = {*servers}, list[Servers]()
        while left:
            new = found = {left.pop()}
            while new:
                new = {near for server in new for near in self._near[server].keys() & left}
                left -= new
                found = found | new
            sets.append(tuple(sorted(found)))
        return sets

    def _apart(self, servers: Servers) -> Mapping[int, int]:
        """Those of them without which the others would fall into several sets, and into how many."""
        numbers = {server: self._num_sets({*servers} - {server}) for server in servers}
        return {server: number for server, number in numbers.items() if number > 1}

    def _cuts(self, servers: Servers) -> Sequence[tuple[Servers, tuple[Pair, ...]]]:
        """Some of them, and all pairs that join these with the others, where they are few and join each side."""
        found, pairs = list[tuple[Servers, tuple[Pair, ...]]](), self.pairs(servers)
        for number in range(1, len(servers)):
            for others in combinations(servers[1:], number - 1):
                some = (servers[0], *others)
                across = tuple(pair for pair in pairs if (pair[0] in some) != (pair[1] in some))
                if len(across) <= MOST_ACROSS and self._num_sets(some) == self._num_sets({*servers} - {*some}) == 1:
                    found.append((some, across))
        return found

    def renamed(self, servers: Servers) -> Iterator[Mapping[int, int]]:
        """Servers that these may be renamed to, since fibers between those carry no more light: first of all these
        themselves, then those whose fibers carry as much, on which the same jobs have a place."""
        yield {server: server for server in servers}
        for is_alike in (True, False):
            for names in self._renamed(servers, {}, is_alike=is_alike):
                if any(a != b for a, b in names.items()) and self._are_alike(names) == is_alike:
                    yield names

    def _renamed(self, servers: Servers, names: Mapping[int, int], *, is_alike: bool) -> Iterator[Mapping[int, int]]:
        """Names of all of these, some of which are given, between which fibers carry no more, or as much."""
        if len(names) == len(servers):
            yield names
            return
        server = servers[len(names)]
        for new in self._servers:
            light = ((self._near[server].get(a, 0), self._near[new].get(b, 0)) for a, b in names.items())
            may_be = all(most == carried if is_alike else most >= carried for most, carried in light)
            if new not in names.values() and may_be:
                yield from self._renamed(servers, {**names, server: new}, is_alike=is_alike)

    def _are_alike(self, names: Mapping[int, int]) -> bool:
        return all(self._near[a].get(b, 0) == self._near[names[a]].get(names[b], 0) for a, b in combinations(names, 2))

    def pairs(self, servers: Servers) -> list[Pair]:
        """Those of them that fibers join."""
        return [pair for pair in combinations(servers, 2) if pair[1] in self._near[pair[0]]]
