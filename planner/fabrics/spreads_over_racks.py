"""Ways to spread jobs over several racks, for all rows of one search: what rows have in common is found once."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, islice
from typing import Generic, Protocol, TypeVar

from planner.fabrics.demand import Demand
from planner.fabrics.rack_links import RackLinks
from planner.fabrics.search import Blocks, Search

MOST_CHOICES = 50
"""choices of racks that a job is tried on"""
MOST_SPREADS = 10
"""of a part in one rack, the best first"""
Part = TypeVar("Part")


class JoinedAsFound(Generic[Part]):
    """Choices of racks, between which links are free, for a job whose parts become known rack by rack."""

    def __init__(self, demand: Demand, links: RackLinks) -> None:
        self._demand, self._links = demand, links
        self._able = list[tuple[int, Part]]()
        self._num_tried = 0

    def choices_with(self, rack: int, part: Part) -> Iterator[list[Part]]:
        """Those that end with this rack, which comes after all before it; their parts by rack."""
        if not self._links.fits(self._demand, [rack]):
            return
        for others in combinations(self._able, self._demand.racks - 1):
            self._num_tried += 1
            if self._num_tried > MOST_CHOICES:
                return
            if self._links.fits(self._demand, [*(number for number, _ in others), rack]):
                yield [*(other for _, other in others), part]
        self._able.append((rack, part))


class FreeByRack(Protocol):
    """What is free, rack by rack."""

    @property
    def together(self) -> Sequence[Sequence[int]]: ...
    @property
    def free_together(self) -> Sequence[int]: ...
    def spreads(self, demand: Demand, search: Search) -> Iterable[Blocks]: ...
    def may_lie(self, part: Demand, blocks: Blocks) -> bool:
        """True unless light is known to refuse what a job has in one rack there."""


class SpreadsOverRacks:
    """Spreads during one search, while nothing is taken or given back."""

    def __init__(self, racks: FreeByRack, links: RackLinks, search: Search) -> None:
        self._racks, self._links, self._search = racks, links, search
        self._number = {servers[0]: rack for rack, servers in enumerate(racks.together)}
        self._roomy: dict[object, dict[int, list[Blocks]]] = {}
        """ways to lie by rack, those with the least room first, by what a part takes of a server"""
        self._choices: dict[object, list[tuple[int, ...]] | None] = {}
        self._lit: dict[Demand, dict[int, Blocks | None]] = {}
        """the way on which light was not refused yet, by part and rack"""

    def of(self, demand: Demand) -> Iterator[Blocks] | None:
        """Over as many racks as a job asks for, those with the least room first; None where fewer have room and links,
        light inside them aside."""
        key = demand.in_rack.room_key, demand.racks, demand.links
        if key not in self._choices:
            self._choices[key] = self._chosen(demand)
        choices = self._choices[key]
        return None if choices is None else self._over(demand.in_rack, choices)

    def _over(self, part: Demand, choices: Sequence[tuple[int, ...]]) -> Iterator[Blocks]:
        known = self._lit.setdefault(part, {})
        for racks in choices:
            found = [self._in(part, rack, known) for rack in racks]
            if None not in found:
                yield [block for blocks in found if blocks is not None for block in blocks]

    def _in(self, part: Demand, rack: int, known: dict[int, Blocks | None]) -> Blocks | None:
        """How a part may lie in a rack."""
        blocks = known.get(rack, [])
        if blocks is None or (blocks and self._racks.may_lie(part, blocks)):
            return blocks
        ways = self._roomy[part.room_key][rack]
        known[rack] = next((each for each in ways if self._racks.may_lie(part, each)), None)
        return known[rack]

    def _chosen(self, demand: Demand) -> list[tuple[int, ...]] | None:
        """Choices of racks with room, between which links are free; None where too few have both."""
        part = demand.in_rack
        if part.room_key not in self._roomy:
            self._roomy[part.room_key] = self._with_room(part)
        able = [rack for rack in self._roomy[part.room_key] if self._links.fits(demand, [rack])]
        if len(able) < demand.racks:
            return None
        chosen = (tuple(sorted(racks)) for racks in islice(combinations(able, demand.racks), MOST_CHOICES))
        return [racks for racks in chosen if self._links.fits(demand, racks)]

    def _with_room(self, part: Demand) -> dict[int, list[Blocks]]:
        found, free = dict[int, list[Blocks]](), self._racks.free_together
        near = [(free[self._number[s[0]]], self._number[s[0]], s) for s in self._search.among or self._racks.together]
        for number, rack, servers in sorted(near, key=lambda each: each[:2]):
            if number >= part.num_ranks:
                spreads = self._racks.spreads(part, replace(self._search, among=[servers]))
                found[rack] = list(islice(spreads, MOST_SPREADS))
        return {rack: spreads for rack, spreads in found.items() if spreads}
