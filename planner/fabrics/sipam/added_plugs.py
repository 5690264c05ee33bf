"""Memory circuits of ranks in one server beside those that they have: units and ports behind rails, by count."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.server_pool import FreeCounts
from planner.model.plan import MemoryCircuit

MOST_PLUGS_TRIED = 1_000
"""of ranks in one server"""


class NewPlug(NamedTuple):
    """A memory circuit that a rank gets."""

    rail: int
    tray: int
    units: int
    stays: bool
    """whether it is on in all phases"""


class RankLack(NamedTuple):
    """What a rank is to get beside the memory circuits that it has."""

    rails: frozenset[int]
    """of those that it has"""
    staying: int
    """circuits that are on in all phases"""
    others: int
    """circuits that are on in the phase with more memory alone"""
    units: int
    """behind all of these"""
    least: int
    """behind those that stay, at least"""

    @classmethod
    def of(cls, demand: PoolDemand, richer: str, plugs: Sequence[MemoryCircuit], port_units: int) -> "RankLack | None":
        """What a rank with these circuits lacks of a demand whose phase with more memory is `richer`; None where it has
        some that the demand has no place for."""
        most, fewest = demand.by_memory
        stay = [plug for plug in plugs if plug.phase is None]
        if any(plug.phase not in (None, richer) for plug in plugs):
            return None
        staying = fewest.memory_io - len(stay)
        more = most.memory_io - len(plugs)
        units = most.units - sum(len(plug.units) for plug in plugs)
        if min(staying, more - staying) < 0 or not more <= units <= more * port_units:
            return None
        least = fewest.units - sum(len(plug.units) for plug in stay)
        return cls(frozenset(plug.rail for plug in plugs), staying, more - staying, units, max(least, 0))

    @property
    def circuits(self) -> int:
        """All that it gets."""
        return self.staying + self.others


class ShutRails(NamedTuple):
    """What the network of a job leaves to its memory in one server, in the phase with more memory and in the other."""

    rails: tuple[frozenset[int], frozenset[int]]
    """local rails that circuits between accelerators are on"""
    most: tuple[int, int]
    """local rails that memory may be on"""


NONE_SHUT = ShutRails((frozenset(), frozenset()), (1 << 30, 1 << 30))


@dataclass
class AddedPlugs:
    """The first way that is found to plug all ranks of a server: rails with the most free ports first, and trays with
    the most free units."""

    free: FreeCounts
    """beside what the ranks have"""
    lacks: Sequence[RankLack]
    port_units: int
    shut: ShutRails
    held: tuple[frozenset[int], frozenset[int]]
    """rails that memory of the ranks is on, in the phase with more of it and in the other"""
    _found: list[list[NewPlug]] = field(default_factory=list)
    _tried: int = 0

    def found(self) -> list[list[NewPlug]] | None:
        """Plugs by rank; None where there are none, or not found in MOST_PLUGS_TRIED steps."""
        self._found = [[] for _ in self.lacks]
        units = [*self.free.units]
        ports = {rail: [*trays] for rail, trays in self.free.ports.items()}
        self.free = FreeCounts(units, ports, self.free.spine)
        return self._found if self._rank(0) else None

    def _rank(self, number: int) -> bool:
        """Plug a rank and all behind it."""
        if number == len(self.lacks):
            return True
        if not self._may_do(number):
            return False
        order = sorted(self.free.ports, key=lambda rail: -sum(self.free.ports[rail]))
        return self._plug(number, self.lacks[number], order, 0)

    def _may_do(self, number: int) -> bool:
        """False where ports or units, each for itself, are too few for the ranks that are left."""
        left = self.lacks[number:]
        ports = sum(min(len(left), sum(self.free.ports[rail])) for rail in self._open(stays=False))
        return sum(each.circuits for each in left) <= ports and sum(each.units for each in left) <= sum(self.free.units)

    def _open(self, *, stays: bool) -> list[int]:
        """Rails that may get a circuit which stays on, or one that does not."""
        shut, phases = self.shut, (0, 1) if stays else (0,)
        on = self._on()
        return [
            rail
            for rail in self.free.ports
            if all(
                rail not in shut.rails[phase] and (rail in on[phase] or len(on[phase]) < shut.most[phase])
                for phase in phases
            )
        ]

    def _on(self) -> tuple[set[int], set[int]]:
        """Rails with memory by phase."""
        new = [plug for plugs in self._found for plug in plugs]
        every, staying = {plug.rail for plug in new}, {plug.rail for plug in new if plug.stays}
        return every.union(self.held[0]), staying.union(self.held[1])

    def _plug(self, number: int, lack: RankLack, order: Sequence[int], start: int) -> bool:
        """Give a rank what it lacks, and then all behind it; rails of alike circuits in this order from `start`."""
        if not lack.circuits:
            return self._rank(number + 1)
        units, ports, stays = self.free.units, self.free.ports, lack.staying > 0
        allowed = set(self._open(stays=stays)).difference(lack.rails)
        for place in range(start, len(order)):
            rail = order[place]
            if rail not in allowed:
                continue
            for tray in sorted(range(len(units)), key=lambda tray: -units[tray]):
                for count in self._counts(lack, units[tray]) if ports[rail][tray] else ():
                    self._tried += 1
                    if self._tried > MOST_PLUGS_TRIED:
                        return False
                    self._take(number, NewPlug(rail, tray, count, stays))
                    rest = self._without(lack, rail, count)
                    is_last = stays and not rest.staying
                    if self._plug(number, rest, order, 0 if is_last else place + 1):
                        return True
                    self._give_back(number)
        return False

    def _counts(self, lack: RankLack, free: int) -> Iterator[int]:
        """Units behind the next circuit, of so many free ones: the most first."""
        later = lack.circuits - 1
        most = min(self.port_units, lack.units - later, free)
        least = max(1, lack.units - later * self.port_units)
        if lack.staying:
            least = max(least, lack.least - (lack.staying - 1) * self.port_units)
        yield from range(most, least - 1, -1)

    @staticmethod
    def _without(lack: RankLack, rail: int, count: int) -> RankLack:
        rails, units = lack.rails | {rail}, lack.units - count
        if not lack.staying:
            return RankLack(rails, 0, lack.others - 1, units, lack.least)
        return RankLack(rails, lack.staying - 1, lack.others, units, max(lack.least - count, 0))

    def _take(self, number: int, plug: NewPlug) -> None:
        self._found[number].append(plug)
        self.free.units[plug.tray] -= plug.units
        self.free.ports[plug.rail][plug.tray] -= 1

    def _give_back(self, number: int) -> None:
        plug = self._found[number].pop()
        self.free.units[plug.tray] += plug.units
        self.free.ports[plug.rail][plug.tray] += 1
