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
    def is_untouched(self, rack: int) -> bool:
        """True if nothing is taken in a rack that is like all others of which this is true."""

    def is_refused(self, part: Demand, blocks: Blocks) -> bool:
        """True if light has refused what a job has in one rack there."""

    def may_lie(self, part: Demand, blocks: Blocks) -> bool:
        """True unless light is known to refuse what a job has in one rack there."""


class SpreadsOverRacks:
    """Spreads during one search, while nothing is taken or given back."""

    def __init__(self, racks: FreeByRack, links: RackLinks, search: Search) -> None:
        self._racks, self._links, self._search = racks, links, search
        number = {servers[0]: rack for rack, servers in enumerate(racks.together)}
        self._servers = {number[servers[0]]: servers for servers in search.among or racks.together}
        """by rack that is looked at"""
        open_to_all = [rack for rack, servers in self._servers.items() if search.barred.isdisjoint(servers)]
        untouched = [rack for rack in open_to_all if racks.is_untouched(rack)] if search.is_fixed else []
        self._stands_for = dict.fromkeys(untouched, min(untouched, default=0))
        """the first of the racks in which nothing is taken, or barred, by each of them: parts lie alike in all"""
        self._able: dict[object, list[int]] = {}
        """racks with as many free devices, and the links, those with the fewest devices first"""
        self._ways: dict[tuple[object, int], list[Blocks]] = {}
        """ways to lie by what a part takes of a server, and rack"""
        self._lit: dict[Demand, dict[int, Blocks | None]] = {}
        """the way on which light was not refused yet, by part and rack"""

    def of(self, demand: Demand) -> Iterator[Blocks] | None:
        """Over as many racks as a job asks for, those with the least room first; None where fewer have as many free
        devices, and links."""
        key = demand.in_rack.num_ranks, demand.links
        if key not in self._able:
            self._able[key] = self._with_devices(demand)
        able = self._able[key]
        return None if len(able) < demand.racks else self._over(demand, able)

    def _over(self, demand: Demand, able: Sequence[int]) -> Iterator[Blocks]:
        """Choices of racks where each part may lie; what is refused meanwhile is passed over."""
        num_tried, before, refusing = 0, list[int](), set[int]()
        for rack in able:
            stands = self._stands_for.get(rack, rack)
            if stands in refusing:
                continue
            own = self._in(demand.in_rack, stands)
            if own is None:
                refusing.add(stands)
                continue
            for chosen in self._choices(demand, before, rack):
                if num_tried == MOST_CHOICES:
                    return
                num_tried += 1
                if chosen:
                    yield chosen
            before.append(rack)

    def _choices(self, demand: Demand, before: Sequence[int], rack: int) -> Iterator[Blocks]:
        """Choices with this rack and others before it; empty where they are not joined, or light was refused."""
        if len(before) + 1 < demand.racks:
            return
        others = [other for other in before if self._in(demand.in_rack, self._stands_for.get(other, other)) is not None]
        for chosen in combinations(others, demand.racks - 1):
            racks = sorted([*chosen, rack])
            parts = self._parts(demand.in_rack, racks) if self._links.fits(demand, racks) else []
            yield [block for own in parts for block in own]

    def _parts(self, part: Demand, racks: Sequence[int]) -> list[Blocks]:
        """How a part lies in each rack; [] where light was refused in one."""
        stands = {rack: self._stands_for.get(rack, rack) for rack in racks}
        ways = {rack: self._in(part, rack) for rack in {*stands.values()}}
        found = [(rack, stands[rack], ways[stands[rack]]) for rack in racks]
        return [self._moved(own, of, rack) for rack, of, own in found if own] if all(ways.values()) else []

    def _moved(self, blocks: Blocks, source: int, rack: int) -> Blocks:
        """The same blocks in another rack."""
        further = self._servers[rack][0] - self._servers[source][0]
        return [(server + further, count) for server, count in blocks] if further else blocks

    def _in(self, part: Demand, rack: int) -> Blocks | None:
        """How a part may lie in a rack."""
        known = self._lit.setdefault(part, {})
        blocks = known.get(rack, [])
        if blocks is None or (blocks and not self._racks.is_refused(part, blocks)):
            return blocks
        key = part.room_key, rack
        if key not in self._ways:
            spreads = self._racks.spreads(part, replace(self._search, among=[self._servers[rack]]))
            self._ways[key] = list(islice(spreads, MOST_SPREADS))
        known[rack] = next((each for each in self._ways[key] if self._racks.may_lie(part, each)), None)
        return known[rack]

    def _with_devices(self, demand: Demand) -> list[int]:
        free, least = self._racks.free_together, demand.in_rack.num_ranks
        near = sorted((free[rack], rack) for rack in self._servers if free[rack] >= least)
        return self._links.among(demand, [rack for _, rack in near])
