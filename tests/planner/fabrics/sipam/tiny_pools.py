"""Two servers of a pool that are so small that all places can be listed which keep what a job has."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, islice, product
from typing import Any

from costmodel.fabrics import Sipam
from costmodel.parallelism.mappings import DIMENSIONS
from planner.controller import Controller, Request
from planner.fabrics import plugin_of
from planner.fabrics.job_class import Option
from planner.fabrics.sipam.attachments import wiring_of
from planner.fabrics.sipam.rule_network import is_inside, rails_of
from planner.model.plan import Circuit, HeldCircuits, MemoryCircuit
from planner.placement.placement import Place
from tests.planner.controller.pooled import names_of

LOCAL, RAILS, TRAYS, PORT_UNITS = 3, 5, 2, 2
TINY: dict[str, Any] = {
    "servers": 2, "accelerators_per_server": 4, "trays_per_server": TRAYS, "units_per_tray": 5, "tray_ports": 2,
    "spine_rails": RAILS - LOCAL, "uplinks": 2, "switch_ports": 32, "units_per_port": PORT_UNITS,
    "memory_grid": [1, 2, 3],
    "shoreline": {"name": "narrow", "kind": "shoreline", "source": "test", "perimeter_mm": 40, "io": "photonic-io"},
}  # fmt: skip
Plug = tuple[int, int, int]
"""rail, tray and units"""
Rails = dict[int, tuple[int, ...]]
"""by circuit"""


def may_grow(c: Controller, wanted: Request) -> bool:
    """Whether some free accelerators, memory and rails make a place with all that a running job has, and no slower
    one, that the validator agrees with."""
    state, kinds, place = c._durable.state, c._durable.kinds, c.running[wanted.name]
    rows = [row for row in kinds[kinds.name(wanted)].rows if row.rate >= place.row.rate]
    free = {s: list(slots) for s, slots in enumerate(state.free.state.slots.lit)}
    for row in rows:
        more = row.shape.num_ranks - len(place.devices)
        for servers in product(free, repeat=more) if more > 0 else ():
            if all(servers.count(server) <= len(free[server]) for server in free):
                seen = Counter[int]()
                devices = list(place.devices)
                for server in servers:
                    devices.append((server, free[server][seen[server]]))
                    seen[server] += 1
                ways = Ways(c, row, devices, place).places()
                if any(state.validator.objection(wanted, way) is None for way in ways):
                    return True
    return False


def may_shrink(c: Controller, wanted: Request, kept: Sequence[str]) -> bool:
    """Whether some of the circuits between accelerators that are kept, with all of their memory, are those of a
    configuration that the validator agrees with."""
    state, kinds, place = c._durable.state, c._durable.kinds, c.running[wanted.name]
    rank = {name: number for number, name in enumerate(name for name in place.device_names if name in kept)}
    devices = [device for device, name in zip(place.devices, place.device_names, strict=True) if name in kept]
    memory = tuple(plug for plug in place.memory if plug.device in kept)
    on = [
        circuit
        for held in place.circuits
        for circuit in held.circuits
        if {circuit.source, circuit.destination} <= {*rank}
    ]
    for row in kinds[kinds.name(wanted)].rows:
        if row.shape.num_ranks != len(devices):
            continue
        config = row.options.candidates.configuration(row.number)
        asked = [
            (dim, *ends)
            for dim, links in plugin_of(c.cluster.fabric).rules.required(config) or []
            for ends in links.items()
        ]
        alike = [
            [
                n
                for n, each in enumerate(on)
                if (rank[each.source], rank[each.destination]) == ends and len(each.wavelengths) == width
            ]
            for _, ends, width in asked
        ]
        for chosen in product(*alike):
            if len({*chosen}) == len(chosen):
                by = {
                    dim: tuple(on[n] for n, each in zip(chosen, asked, strict=True) if each[0] == dim)
                    for dim, *_ in asked
                }
                circuits = tuple(
                    HeldCircuits.model_validate({"dimension": d, "circuits": each}) for d, each in by.items()
                )
                wiring = wiring_of(circuits, memory, devices, c.cluster.fabric)
                if state.validator.objection(wanted, Place(place.kind, row, tuple(devices), wiring)) is None:
                    return True
    return False


@dataclass
class Ways:
    """Places of one row on given devices."""

    c: Controller
    row: Option
    devices: Sequence[tuple[int, int]]
    before: Place
    shut: set[tuple[int, int]] = field(default_factory=set)
    free: dict[str, list[str]] = field(init=False)
    """names of units by tray, of ports by tray and rail, and of uplinks by server and rail"""

    def __post_init__(self) -> None:
        taken = set[str]().union(*(names_of(place) for place in self.c.running.values()))
        self.fabric = fabric = self.c.cluster.fabric
        assert isinstance(fabric, Sipam)
        self.names = fabric.device_names(self.devices)
        self.free = {}
        for server, tray in product(("s0", "s1"), range(TRAYS)):
            self.free[f"{server}.m{tray}"] = [f"{server}.m{tray}.u{unit}" for unit in range(fabric.units_per_tray)]
            for rail in range(LOCAL):
                self.free[f"{server}.m{tray}.q{rail}"] = [
                    f"{server}.m{tray}.q{rail}#{n}" for n in range(fabric.tray_ports)
                ]
        for server, rail in product(("s0", "s1"), range(LOCAL, RAILS)):
            self.free[f"{server}.q{rail}"] = [f"{server}.q{rail}#{n}" for n in range(fabric.uplinks)]
        for names in self.free.values():
            names[:] = [name for name in names if name not in taken and name not in self.c.down]

    def places(self) -> Iterator[Place]:
        """The first ones for each way in which rails may be used by memory."""
        for plugs in self.memories():
            on = {(self.devices[rank][0], rail) for rank, own in enumerate(plugs) for rail, _, _ in own}
            on.update((self.devices[self.names.index(p.device)][0], p.rail) for p in self.before.memory)
            yield from (self.place(plugs, rails) for rails in islice(self.networks(on), 3))

    def memories(self) -> Iterator[list[list[Plug]]]:
        """New memory circuits by rank, one way for each use of rails."""
        config, size = self.row.options.candidates.configuration(self.row.number), len(self.devices)
        left = {place: len(names) for place, names in self.free.items()}
        ways: dict[Any, list[list[Plug]]] = {(tuple(left.items()), frozenset()): []}
        for rank in range(size):
            server = self.devices[rank][0]
            own = [p for p in self.before.memory if p.device == self.names[rank]]
            more = (config.memory_io or 0) - len(own)
            units = (config.memory_units or 0) - sum(len(p.units) for p in own)
            then: dict[Any, list[list[Plug]]] = {}
            for (has, on), before in ways.items():
                for plugs in _plugs({p.rail for p in own}, more, units):
                    rest = Counter(dict(has))
                    for rail, tray, count in plugs:
                        rest[f"s{server}.m{tray}"] -= count
                        rest[f"s{server}.m{tray}.q{rail}"] -= 1
                    if min(rest.values()) >= 0:
                        key = tuple(rest.items()), on.union((server, rail) for rail, _, _ in plugs)
                        then.setdefault(key, [*before, plugs])
            ways = then
        by_rails = {on: plugs for (_, on), plugs in ways.items()}
        yield from by_rails.values()

    def networks(self, on: set[tuple[int, int]]) -> Iterator[Rails]:
        """Rails of all circuits with those that are on; none that memory is `on` in a server."""
        config = self.row.options.candidates.configuration(self.row.number)
        required = plugin_of(self.fabric).rules.required(config) or []
        self.circuits = [(dim, *ends, width) for dim, links in required for ends, width in links.items()]
        self.leaves = {dimension: not is_inside(config, dimension) for dimension in DIMENSIONS}
        servers = [server for server, _ in self.devices]
        if any(not self.leaves[d] and servers[a] != servers[b] for d, a, b, _ in self.circuits):
            return
        asked = {
            leaves: sum(
                rails_of(getattr(config, f"{dimension}_collective"), config.all_degrees.ranks(dimension))
                for dimension in DIMENSIONS
                if self.leaves[dimension] is leaves
            )
            for leaves in (True, False)
        }
        kept = Counter[tuple[int, int, tuple[int, ...]]]()
        rank = {name: number for number, name in enumerate(self.names)}
        for held in self.before.circuits:
            kept.update((rank[c.source], rank[c.destination], c.wavelengths) for c in held.circuits)
        self.shut = on
        yield from self._colourings({}, asked, kept)

    def _colourings(self, rails: Rails, asked: Mapping[bool, int], kept: Counter[Any]) -> Iterator[Rails]:
        number = len(rails)
        if number == len(self.circuits):
            if not any(kept.values()):
                yield rails
            return
        dimension, source, destination, width = self.circuits[number]
        leaves, left = self.leaves[dimension], sum(kept.values())
        open_ = [r for r in range(LOCAL if leaves else 0, RAILS) if (self.devices[source][0], r) not in self.shut]
        for own in combinations(open_, width):
            if self._clashes(number, rails, own) or left > len(self.circuits) - number:
                continue
            rails[number] = own
            if self._are_few(rails, asked):
                key = source, destination, own
                yield from self._colourings(rails, asked, kept)
                if kept[key]:
                    kept[key] -= 1
                    yield from self._colourings(rails, asked, kept)
                    kept[key] += 1
            del rails[number]

    def _clashes(self, number: int, rails: Rails, own: Sequence[int]) -> bool:
        _, source, destination, _ = self.circuits[number]
        return any(
            not {*own}.isdisjoint(other) and (source == self.circuits[i][1] or destination == self.circuits[i][2])
            for i, other in rails.items()
        )

    def _are_few(self, rails: Rails, asked: Mapping[bool, int]) -> bool:
        """Whether groups that may leave a server are on as few rails as asked, and others in each server on others."""
        across, inside = set[int](), dict[int, set[int]]()
        for number, own in rails.items():
            dimension, source, *_ = self.circuits[number]
            (across if self.leaves[dimension] else inside.setdefault(self.devices[source][0], set())).update(own)
        apart = all(across.isdisjoint(own) and len(own) <= asked[False] for own in inside.values())
        return len(across) <= asked[True] and apart

    def place(self, plugs: Sequence[Sequence[Plug]], rails: Rails) -> Place:
        """By name, with the first units, ports and uplinks."""
        free, memory = {place: [*names] for place, names in self.free.items()}, list[MemoryCircuit]()
        for rank, (server, _) in enumerate(self.devices):
            memory += [p for p in self.before.memory if p.device == self.names[rank]]
            for rail, tray, count in plugs[rank]:
                units = tuple(free[f"s{server}.m{tray}"].pop(0) for _ in range(count))
                port = free[f"s{server}.m{tray}.q{rail}"].pop(0)
                memory.append(MemoryCircuit(device=self.names[rank], rail=rail, port=port, units=units))
        circuits = self._named(rails)
        wiring = wiring_of(circuits, tuple(memory), self.devices, self.fabric)
        return Place(self.before.kind, self.row, tuple(self.devices), wiring)

    def _named(self, rails: Rails) -> tuple[HeldCircuits, ...]:
        on = [circuit for held in self.before.circuits for circuit in held.circuits]
        used, own = Counter((way % 2, name) for c in on for way, name in enumerate(c.fibers)), Counter[str]()
        own.update(name for c in on for name in c.fibers)
        found = dict[str, list[Circuit]]()
        for number, (dimension, source, destination, _) in enumerate(self.circuits):
            ends = self.names[source], self.names[destination]
            same = [c for c in on if (c.source, c.destination, c.wavelengths) == (*ends, rails[number])]
            if same:
                on.remove(same[0])
                found.setdefault(dimension, []).append(same[0])
                continue
            fibers = list[str]()
            if ends[0][:2] != ends[1][:2]:
                for rail, (way, end) in product(rails[number], enumerate(ends)):
                    names = sorted(
                        {*self.free[f"{end[:2]}.q{rail}"], *(n for n in own if n.startswith(f"{end[:2]}.q{rail}#"))}
                    )
                    able = [name for name in names if not used[way, name]]
                    fibers.append(min(able, key=lambda name: (not own[name], name)) if able else "none")
                    used[way, fibers[-1]] += 1
                    own[fibers[-1]] += 1
            circuit = {"source": ends[0], "destination": ends[1], "wavelengths": rails[number], "fibers": fibers}
            found.setdefault(dimension, []).append(Circuit.model_validate(circuit))
        return tuple(HeldCircuits.model_validate({"dimension": d, "circuits": each}) for d, each in found.items())


def _plugs(on: set[int], circuits: int, units: int) -> Iterator[list[Plug]]:
    """Ways to plug one rank that has memory on some rails."""
    if circuits < 0 or not circuits <= units <= circuits * PORT_UNITS:
        return
    for rails in combinations([rail for rail in range(LOCAL) if rail not in on], circuits):
        for counts in product(range(1, PORT_UNITS + 1), repeat=circuits):
            if sum(counts) == units:
                for trays in product(range(TRAYS), repeat=circuits):
                    yield list(zip(rails, trays, counts, strict=True))
