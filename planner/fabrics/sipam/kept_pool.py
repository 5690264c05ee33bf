"""What a running job in a pool has stays where it is, and it gets more beside that, or goes on with a part of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from costmodel.wording import counted
from planner.fabrics.demand import Demand
from planner.fabrics.free_slots import Device
from planner.fabrics.lit import Lit
from planner.fabrics.sipam.added_circuits import (
    AddedCircuits,
    Alike,
    AskedCircuit,
    KeptCircuits,
    RailSearch,
    RailsTaken,
    asked_circuits,
)
from planner.fabrics.sipam.added_plugs import NONE_SHUT, AddedPlugs, NewPlug, RankLack, ShutRails
from planner.fabrics.sipam.demand import PoolDemand
from planner.fabrics.sipam.free_pool import Connected, FreePool
from planner.fabrics.sipam.server_pool import FreeServer
from planner.model.plan import Circuit, HeldCircuits, MemoryCircuit, circuit_of

MOST_NETWORKS = 10
"""ways for the network to lie that are held against memory"""
Plugs = dict[int, list[list[NewPlug]]]
"""by server, of each of its ranks"""


@dataclass(frozen=True)
class KeptPool:
    """A demand in one rack on devices of which some have circuits on."""

    pool: FreePool
    """with all free that the job has"""
    demand: Demand
    devices: Sequence[Device]
    lit: Lit

    def beside(self) -> Connected | None:
        """Circuits and memory of the demand, those that are on among them; None where none are found."""
        if None in self._lacks or self._plugged(*[NONE_SHUT] * len(self._ranks)) is None:
            return None
        tried = set[tuple[ShutRails, ...]]()
        for taken in self._search(AddedCircuits).run():
            shut = tuple(self._shut(server, taken) for server in self._ranks)
            if shut not in tried and (plugs := self._plugged(*shut)) is not None:
                with suppress(_NoUplinkError):
                    return self._circuits(taken), self._memory(plugs)
            tried.add(shut)
            if len(tried) == MOST_NETWORKS:
                break
        return None

    def within(self) -> Connected | None:
        """The same of those that are on alone."""
        if not all(lack is not None and not lack.circuits for lack in self._lacks):
            return None
        taken = next(self._search(KeptCircuits).run(), None)
        return None if taken is None else (self._circuits(taken), self.lit.memory)

    def missing(self) -> str | None:
        """What the demand has no place for of what is on, in words; None where it may have all of it."""
        if None in self._lacks:
            now, then = self._how_plugged()
            return f"memory of each accelerator would have to go from {now} to {then}"
        asked, lost = Counter(each.alike for each in self.asked), Counter[str]()
        for dimension, alike, _ in self._kept:
            asked[alike] -= 1
            lost[dimension] += asked[alike] < 0
        gone = [f"{counted(number, 'circuit')} along {name}" for name, number in lost.items() if number]
        return f"{' and '.join(gone)} would have to be set anew" if gone else None

    def _how_plugged(self) -> tuple[str, str]:
        """Memory of an accelerator in words, as it is and as the demand has it."""
        richer, poorer = PoolDemand.of(self.demand).by_memory
        plugs = self._has[0]
        always = [plug for plug in plugs if plug.phase is None]
        now = tuple((sum(len(plug.units) for plug in some), len(some)) for some in (plugs, always))
        then = ((richer.units, richer.memory_io), (poorer.units, poorer.memory_io))
        return _plugged_in_words(*now), _plugged_in_words(*then)

    @cached_property
    def _names(self) -> list[str]:
        return [*self.pool.fabric.device_names(self.devices)]

    @cached_property
    def _ranks(self) -> dict[int, list[int]]:
        """By server."""
        found = dict[int, list[int]]()
        for rank, (server, _) in enumerate(self.devices):
            found.setdefault(server, []).append(rank)
        return found

    @cached_property
    def _richer(self) -> tuple[int, int]:
        """Of the phases, the one with more memory and the other one."""
        first, last = 0, len(self.demand.by_phase) - 1
        memory = [each.units for each in PoolDemand.of(self.demand).by_phase]
        return (first, last) if memory[first] > memory[last] else (last, first)

    @cached_property
    def _has(self) -> list[list[MemoryCircuit]]:
        """Memory circuits that are on, by rank."""
        own = dict[str, list[MemoryCircuit]]()
        for plug in self.lit.memory:
            own.setdefault(plug.device, []).append(plug)
        return [own.get(name, []) for name in self._names]

    @cached_property
    def _lacks(self) -> list[RankLack | None]:
        pool, richer = PoolDemand.of(self.demand), self.demand.by_phase[self._richer[0]].phase
        return [RankLack.of(pool, richer, plugs, self.pool.fabric.port_units) for plugs in self._has]

    @cached_property
    def asked(self) -> list[AskedCircuit]:
        """Circuits of the demand."""
        return asked_circuits(self.demand, self.lit)

    def phases_of(self, circuit: AskedCircuit) -> list[str | None]:
        """Phases in which a circuit of the demand is on."""
        return [each.phase or None for each in self.demand.by_phase] if circuit.phase is None else [circuit.phase]

    @cached_property
    def _kept(self) -> list[tuple[str, Alike, Circuit]]:
        """Circuits that are on, with their dimension."""
        rank = {name: number for number, name in enumerate(self._names)}
        return [
            (held.dimension, (held.phase, rank[each.source], rank[each.destination], len(each.wavelengths)), each)
            for held in self.lit.circuits
            for each in held.circuits
        ]

    @cached_property
    def _free(self) -> dict[int, FreeServer]:
        """Servers with what is free beside the memory that is on."""
        found, fabric = {server: self.pool.racks[server].copy() for server in self._ranks}, self.pool.fabric
        for plug in self.lit.memory:
            server, tray, rail, index = fabric.parse_tray_port(plug.port)
            found[server].ports[rail][tray].remove(index)
            for name in plug.units:
                found[server].units[tray].remove(fabric.parse_unit(name)[2])
        return found

    def _memory_rails(self, server: int, phase: int) -> frozenset[int]:
        """Rails of the memory that is on in a phase."""
        names = {None, self.demand.by_phase[phase].phase}
        on = (plug for rank in self._ranks[server] for plug in self._has[rank])
        return frozenset(plug.rail for plug in on if plug.phase in names)

    def _search(self, kind: type[RailSearch]) -> RailSearch:
        memory = {
            (shape.phase or None, server): self._memory_rails(server, phase)
            for phase, shape in enumerate(self.demand.by_phase)
            for server in self._ranks
        }
        kept = [(alike, circuit) for _, alike, circuit in self._kept]
        return kind(self.demand, self.asked, [server for server, _ in self.devices], self._free, kept, memory)

    def _shut(self, server: int, taken: Sequence[RailsTaken]) -> ShutRails:
        """What the network leaves to memory in a server."""
        rack, rails, most = self._free[server], list[frozenset[int]](), list[int]()
        for phase in self._richer:
            name, ask = self.demand.by_phase[phase].phase, PoolDemand.of(self.demand).by_phase[phase]
            asked = ((self.asked[each.number], each.rails) for each in taken)
            on = (own for each, own in asked if each.phase in (None, name) and self.devices[each.source][0] == server)
            rails.append(frozenset(rail for own in on for rail in own if rail in rack.ports))
            most.append(len(rack.ports) - ask.local_network(len(rack.spine)))
        return ShutRails((rails[0], rails[1]), (most[0], most[1]))

    def _plugged(self, *shut: ShutRails) -> Plugs | None:
        """New memory circuits of all ranks, where the network shuts so much in each server; None where none are
        found."""
        found = Plugs()
        for (server, ranks), own in zip(self._ranks.items(), shut, strict=True):
            lacks = [lack for rank in ranks if (lack := self._lacks[rank]) is not None]
            on = self._memory_rails(server, self._richer[0]), self._memory_rails(server, self._richer[1])
            search = AddedPlugs(self._free[server].counts, lacks, self.pool.fabric.port_units, own, on)
            plugs = search.found() if len(lacks) == len(ranks) else None
            if plugs is None:
                return None
            found[server] = plugs
        return found

    def _memory(self, plugs: Plugs) -> tuple[MemoryCircuit, ...]:
        """By name, rank after rank."""
        free = {server: rack.copy() for server, rack in self._free.items()}
        richer = self.demand.by_phase[self._richer[0]].phase
        new = {
            rank: own for server, ranks in self._ranks.items() for rank, own in zip(ranks, plugs[server], strict=True)
        }
        return tuple(
            circuit
            for rank, (server, _) in enumerate(self.devices)
            for circuit in (*self._has[rank], *(self._plug(free[server], rank, each, richer) for each in new[rank]))
        )

    def _plug(self, free: FreeServer, rank: int, plug: NewPlug, richer: str) -> MemoryCircuit:
        fabric, (server, _) = self.pool.fabric, self.devices[rank]
        tray_name = fabric.tray_name(server, plug.tray)
        return MemoryCircuit(
            device=self._names[rank],
            rail=plug.rail,
            port=fabric.tray_port_name(server, plug.tray, plug.rail, free.ports[plug.rail][plug.tray].pop(0)),
            units=tuple(f"{tray_name}.u{free.units[plug.tray].pop(0)}" for _ in range(plug.units)),
            phase=None if plug.stays else richer,
        )

    def _circuits(self, taken: Sequence[RailsTaken]) -> tuple[HeldCircuits, ...]:
        """By name, dimension after dimension."""
        uplinks = _Uplinks(self, self._free, taken)
        by_number = {each.number: each for each in taken}
        found = list[HeldCircuits]()
        for (dimension, phase), numbers in groupby(range(len(self.asked)), lambda n: self.asked[n][:2]):
            circuits = tuple(self._circuit(by_number[number], uplinks) for number in numbers)
            found.append(HeldCircuits.model_validate({"dimension": dimension, "phase": phase, "circuits": circuits}))
        return tuple(found)

    def _circuit(self, taken: RailsTaken, uplinks: "_Uplinks") -> Circuit:
        if taken.kept is not None:
            return taken.kept
        asked = self.asked[taken.number]
        ends = self._names[asked.source], self._names[asked.destination]
        return circuit_of(*ends, taken.rails, uplinks.fibers(asked, taken.rails))


class _NoUplinkError(Exception):
    """Each phase has an uplink that is free, and none is free in both, as a circuit that stays on needs."""


class _Uplinks:
    """Numbers of uplinks for new circuits: those that the job has already, one way alone, come first."""

    def __init__(self, job: KeptPool, servers: Mapping[int, FreeServer], taken: Sequence[RailsTaken]) -> None:
        self._servers, self._job = servers, job
        self._used = set[tuple[str | None, int, int, int, int]]()
        """phase, server, rail, way and number"""
        self._own = set[tuple[int, int, int]]()
        for asked, circuit in ((job.asked[each.number], each.kept) for each in taken):
            for way, name in enumerate(() if circuit is None else circuit.fibers):
                uplink = job.pool.fabric.parse_uplink(name)
                self._own.add(uplink)
                self._used.update((phase, *uplink[:2], way % 2, uplink[2]) for phase in job.phases_of(asked))

    def fibers(self, asked: AskedCircuit, rails: Sequence[int]) -> tuple[str, ...]:
        """Of a circuit over these rails the way by name: out of a server and into one."""
        ends = self._job.devices[asked.source][0], self._job.devices[asked.destination][0]
        if ends[0] == ends[1]:
            return ()
        return tuple(self._next(asked, server, rail, way) for rail in rails for way, server in enumerate(ends))

    def _next(self, asked: AskedCircuit, server: int, rail: int, way: int) -> str:
        phases, free = self._job.phases_of(asked), self._servers[server].uplinks[rail]
        able = (n for n in free if not any((phase, server, rail, way, n) in self._used for phase in phases))
        number = min(able, key=lambda number: ((server, rail, number) not in self._own, number), default=None)
        if number is None:
            raise _NoUplinkError
        self._used.update((phase, server, rail, way, number) for phase in phases)
        self._own.add((server, rail, number))
        return self._job.pool.fabric.uplink_name(server, rail, number)


def _plugged_in_words(richer: tuple[int, int], poorer: tuple[int, int]) -> str:
    """Units and circuits in the phase with more memory, and in the other."""
    most, fewest = (f"{counted(units, 'unit')} over {counted(number, 'circuit')}" for units, number in (richer, poorer))
    return most if most == fewest else f"{most} and in the other phase {fewest}"
