"""Rails of the circuits between accelerators of a job that gets more of them, or fewer: what stays on stays on its
rails."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import NamedTuple

from costmodel.parallelism.mappings import DIMENSIONS
from planner.fabrics.demand import Demand
from planner.fabrics.lit import Lit
from planner.fabrics.sipam.demand import PoolDemand, first_colours, is_inside
from planner.fabrics.sipam.server_pool import FreeServer
from planner.model.plan import Circuit

MOST_RAILS_TRIED = 1_000
"""for circuits of one configuration, beside the first try of each"""
Alike = tuple[str | None, int, int, int]
"""phase, ranks of both ends and width of a circuit: one that is on can be any with an equal one"""


class AskedCircuit(NamedTuple):
    """A circuit that a configuration has, by rank."""

    dimension: str
    phase: str | None
    """the one in which it is on; None: in all"""
    source: int
    destination: int
    width: int
    leaves: bool
    """whether its group may leave a server"""
    colour: int
    """the first one, in a colouring that is right on all ranks"""

    @property
    def alike(self) -> Alike:
        """What a circuit has to be that stands for it."""
        return self.phase, self.source, self.destination, self.width


class RailsTaken(NamedTuple):
    """A circuit with its rails, and what is on already of it."""

    number: int
    """of the asked circuit"""
    rails: tuple[int, ...]
    kept: Circuit | None = None


def asked_circuits(demand: Demand, lit: Lit) -> list[AskedCircuit]:
    """All circuits of a demand in one rack, dimension after dimension; those that both phases have are one, unless some
    that are on are of one phase."""
    apart, found = {held.dimension for held in lit.circuits if held.phase is not None}, list[AskedCircuit]()
    phases = [(each.phase or None, _of_phase(each)) for each in demand.by_phase]
    for dimension in DIMENSIONS:
        own = [(phase, circuits.get(dimension, [])) for phase, circuits in phases]
        ends = [[circuit[2:5] for circuit in circuits] for _, circuits in own]
        if len(own) > 1 and dimension not in apart and ends[0] == ends[1]:
            own = [(None, own[-1][1])]
        found += [circuit._replace(phase=phase) for phase, circuits in own for circuit in circuits]
    return found


def _of_phase(shape: Demand) -> dict[str, list[AskedCircuit]]:
    first, found = first_colours(shape), dict[str, list[AskedCircuit]]()
    stays: dict[str, bool] = dict(zip(DIMENSIONS, is_inside(shape), strict=False))
    for (dimension, circuits), offsets in zip(shape.configurations, shape.offsets, strict=True):
        found.setdefault(dimension, []).extend(
            AskedCircuit(dimension, None, *circuit, not stays[dimension], first[dimension] + offset)
            for circuit, offset in zip(circuits, offsets, strict=True)
        )
    return found


@dataclass
class RailSearch(ABC):
    """Ways to give all circuits of a demand their rails."""

    demand: Demand
    asked: Sequence[AskedCircuit]
    servers: Sequence[int]
    """of the ranks"""
    racks: Mapping[int, FreeServer]
    """servers with all uplinks that others do not have"""
    kept: Sequence[tuple[Alike, Circuit]]
    """circuits that are on"""
    memory: Mapping[tuple[str | None, int], frozenset[int]]
    """rails with memory circuits that are on, by phase and server"""
    _used: Counter[tuple[object, ...]] = field(default_factory=Counter)
    """rails by phase, rank and way, and uplinks by phase, server, rail and way"""
    _rails: dict[tuple[str | None, int | None], Counter[int]] = field(default_factory=dict)
    """in use by phase: by groups that may leave a server (None), and by others in each server"""
    _colours: dict[tuple[int | None, int], int] = field(default_factory=dict)
    """the rail that a colour had last, of groups that may leave a server (None), and of others in each server"""
    _made: list[RailsTaken] = field(default_factory=list)
    _tried: int = 0

    def __post_init__(self) -> None:
        pool = PoolDemand.of(self.demand)
        phases = [each.phase or None for each in self.demand.by_phase]
        self._asks = dict(zip(phases, pool.by_phase, strict=True))
        self._here = dict.fromkeys(self.servers)
        spine = set.intersection(*({*self.racks[server].spine} for server in self._here))
        if len(self._here) > 1:
            spine = {rail for rail in spine if self._uplinks(rail) >= max(pool.uplinks, 1)}
        self._spine = sorted(spine, key=lambda rail: (-self._uplinks(rail), rail))
        self._most_across = pool.across

    def run(self) -> Iterator[list[RailsTaken]]:
        """All ways, as far as they are found in so many steps."""
        if not self.asked:
            yield []
            return
        open_ = [self._moves(0)]
        while open_ and self._tried < MOST_RAILS_TRIED + len(self.asked):
            if len(self._made) == len(open_):
                self._change(self._made.pop(), -1)
            move = next(open_[-1], None)
            if move is None:
                open_.pop()
                continue
            self._change(move, 1)
            self._made.append(move)
            if len(self._made) < len(self.asked):
                open_.append(self._moves(len(self._made)))
            elif all(len(self._on(phase, None)) == ask.across for phase, ask in self._asks.items()):
                yield [*self._made]

    @abstractmethod
    def _ways(self, depth: int) -> Iterator[RailsTaken]:
        """What a step may try, after as many others as it is deep."""

    def _moves(self, depth: int) -> Iterator[RailsTaken]:
        for way in self._ways(depth):
            self._tried += 1
            if self._may_do(way):
                yield way

    def _uplinks(self, rail: int) -> int:
        """Of a rail, those that each server has."""
        return min(len(self.racks[server].uplinks.get(rail, ())) for server in self._here)

    def _on(self, phase: str | None, server: int | None) -> set[int]:
        """Rails in use in a phase."""
        return {rail for rail, number in self._rails.get((phase, server), {}).items() if number}

    def _phases(self, circuit: AskedCircuit) -> Sequence[str | None]:
        return [*self._asks] if circuit.phase is None else [circuit.phase]

    def _carrying(self, circuit: AskedCircuit) -> Sequence[int]:
        """Rails that work and suit, the best first."""
        if circuit.leaves:
            return self._spine
        rack = self.racks[self.servers[circuit.source]]
        return [*rack.spine, *sorted(rack.ports, key=lambda rail: (sum(map(len, rack.ports[rail])), -rail))]

    def _may_do(self, move: RailsTaken) -> bool:
        """Whether these rails are free for a circuit, and as many as its groups may have."""
        circuit, rails = self.asked[move.number], {*move.rails}
        if not rails.issubset(self._carrying(circuit)):
            return False
        return all(self._is_free(circuit, phase, rails) for phase in self._phases(circuit))

    def _is_free(self, circuit: AskedCircuit, phase: str | None, rails: set[int]) -> bool:
        ends = (circuit.source, "out"), (circuit.destination, "into")
        if any(self._used[phase, rank, rail, way] for rank, way in ends for rail in rails):
            return False
        ask, here = self._asks[phase], self.servers[circuit.source]
        if not circuit.leaves:
            is_apart = rails.isdisjoint(self._on(phase, None) | self.memory.get((phase, here), frozenset()))
            return is_apart and len(rails | self._on(phase, here)) <= ask.inside
        every = set[int]().union(rails, *(self._on(each, None) for each in self._asks))
        if len(rails | self._on(phase, None)) > ask.across or len(every) > self._most_across:
            return False
        if any(not rails.isdisjoint(self._on(phase, server)) for server in self._here):
            return False
        return all(
            self._used[phase, self.servers[rank], rail, way, "uplink"]
            < len(self.racks[self.servers[rank]].uplinks[rail])
            for rank, way in (ends if here != self.servers[circuit.destination] else ())
            for rail in rails
        )

    def _change(self, move: RailsTaken, sign: int) -> None:
        """A circuit takes rails, or gives them back."""
        circuit = self.asked[move.number]
        here, there = self.servers[circuit.source], self.servers[circuit.destination]
        place = None if circuit.leaves else here
        for phase, rail in product(self._phases(circuit), move.rails):
            for rank, way in ((circuit.source, "out"), (circuit.destination, "into")):
                self._used[phase, rank, rail, way] += sign
                if here != there:
                    self._used[phase, self.servers[rank], rail, way, "uplink"] += sign
            self._rails.setdefault((phase, place), Counter())[rail] += sign
        if sign > 0:
            self._colours.update(((place, circuit.colour + number), rail) for number, rail in enumerate(move.rails))


class AddedCircuits(RailSearch):
    """Those that are on stay, and others come beside them; the first way gives equal colours equal rails."""

    _rest: Sequence[int] = ()
    """circuits that are new"""

    def _ways(self, depth: int) -> Iterator[RailsTaken]:
        made = {move.number for move in self._made}
        if depth < len(self.kept):
            alike, lit = self.kept[depth]
            able = [n for n, each in enumerate(self.asked) if each.alike == alike and n not in made]
            yield from (RailsTaken(number, lit.wavelengths, lit) for number in able)
            return
        if depth == len(self.kept):
            self._rest = [number for number in range(len(self.asked)) if number not in made]
        number = self._rest[depth - len(self.kept)]
        circuit = self.asked[number]
        for rails in combinations(self._in_order(circuit), circuit.width):
            yield RailsTaken(number, tuple(sorted(rails)))

    def _in_order(self, circuit: AskedCircuit) -> list[int]:
        """Rails of its colours first, then others that are in use, then others that are not; those of a circuit that
        may lie together."""
        place = None if circuit.leaves else self.servers[circuit.source]
        own = {self._colours.get((place, circuit.colour + number)) for number in range(circuit.width)}
        phases, meant = self._phases(circuit), {rail for (at, _), rail in self._colours.items() if at == place}
        found = [rail for rail in self._carrying(circuit) if all(self._is_free(circuit, p, {rail}) for p in phases)]
        return sorted(found, key=lambda rail: (rail not in own, rail in meant))


class KeptCircuits(RailSearch):
    """Each is one that is on."""

    def _ways(self, depth: int) -> Iterator[RailsTaken]:
        on = {id(move.kept) for move in self._made}
        for alike, circuit in self.kept:
            if alike == self.asked[depth].alike and id(circuit) not in on:
                yield RailsTaken(depth, circuit.wavelengths, circuit)
