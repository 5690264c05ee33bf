"""Sets of devices that one configuration may take on fabrics of slices and of rails, by enumeration.

Written from planner/RULES.md alone: coordinates, slices, parts and rails follow from the fields of the file.
"""

from collections.abc import Iterator
from itertools import combinations, product
from math import prod
from typing import Any

from costmodel.parallelism.configuration import Configuration
from planner.model.cluster import Cluster

Device = tuple[int, int]
Taken = frozenset[Device]
SENDING = ("tensor", "pipeline", "data")


class SlotOptions:
    """What each configuration may take of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.fabric = cluster, cluster.fabric
        fabric: Any = cluster.fabric
        self.servers = range(fabric.racks * fabric.servers)
        self.slots = range(fabric.devices_per_server)
        failed = {fabric.parse_device(name) for name in cluster.health.failed_tiles}
        dark = {fabric.parse_device(name) for name in cluster.health.failed_ports}
        every = {(server, slot) for server in self.servers for slot in self.slots}
        self.working: Taken = frozenset(every - failed)
        self.lit: Taken = self.working - dark
        self.failed_switches = set(cluster.health.failed_switches)

    def of(self, configuration: Configuration) -> list[Taken]:
        """Every set of devices that a job in this configuration may hold."""
        if configuration.num_devices == 1:
            return [frozenset([device]) for device in sorted(self.working)]
        of_kind = {"ocs_rail": self._on_rails, "torus": self._in_slices, "sipac": self._in_slices}
        return sorted(set(of_kind[self.fabric.kind](configuration)), key=sorted)

    def _on_rails(self, c: Configuration) -> Iterator[Taken]:
        fabric: Any = self.fabric
        ports = ports_needed(c)
        blocks = c.num_devices // c.block
        if ports == 0:
            yield from self._spread([list(self._blocks(server, c.block)) for server in self.servers], blocks)
            return
        working = [
            rail
            for rail in self.slots
            if sum(f"q{rail}#{switch}" not in self.failed_switches for switch in range(fabric.switches)) >= ports
        ]
        for servers in combinations(self.servers, blocks):
            for rails in combinations(working, c.block):
                taken = frozenset(product(servers, rails))
                if taken <= self.lit:
                    yield taken

    def _blocks(self, server: int, size: int) -> Iterator[Taken]:
        free = sorted(device for device in self.lit if device[0] == server)
        yield from map(frozenset, combinations(free, size))

    def _spread(self, options: list[list[Taken]], count: int) -> Iterator[Taken]:
        """Unions of so many disjoint sets."""
        yield from _unions([each for group in options for each in group], count, frozenset())

    def _in_slices(self, c: Configuration) -> Iterator[Taken]:
        """The parts of a job on slices of one rack; blocks of several parts each in one server."""
        fabric: Any = self.fabric
        size = part_size(c)
        for rack in range(fabric.racks):
            servers = range(rack * fabric.servers, (rack + 1) * fabric.servers)
            by_server = [list(self._slices(c, size, [server])) for server in servers]
            if c.block > size:
                held = [list(_unions(slices, c.block // size, frozenset())) for slices in by_server]
                yield from self._spread(held, c.num_devices // c.block)
            elif any(by_server):
                yield from self._spread(by_server, c.num_devices // size)
            elif self.fabric.kind == "torus":
                yield from self._spread([list(self._slices(c, size, list(servers)))], c.num_devices // size)

    def _slices(self, c: Configuration, size: int, servers: list[int]) -> Iterator[Taken]:
        if size == 1:
            found: Iterator[Taken] = (frozenset([d]) for d in self.lit if d[0] in servers)
        elif self.fabric.kind == "sipac":
            found = self._subcubes(extents(c), servers)
        elif any(e > s for e, s in zip(box_of(c), self._sides, strict=True)):
            found = self._cubes(box_of(c), servers)
        else:
            found = self._boxes(box_of(c), servers)
        yield from (taken for taken in found if taken <= self.lit)

    @property
    def _sides(self) -> tuple[int, int, int]:
        fabric: Any = self.fabric
        a, b, c = fabric.sides
        return a, b, c

    def _slot(self, place: tuple[int, ...]) -> int:
        _, b, c = self._sides
        x, y, z = place
        return (x * b + y) * c + z

    def _boxes(self, box: tuple[int, ...], servers: list[int]) -> Iterator[Taken]:
        fabric: Any = self.fabric
        is_optical = fabric.switches is not None
        origins = [
            range(1) if e == s else range(s - e + 1) if is_optical else range(s)
            for e, s in zip(box, self._sides, strict=True)
        ]
        for server, origin in product(servers, product(*origins)):
            places = [
                tuple((o + u) % s for o, u, s in zip(origin, at, self._sides, strict=True))
                for at in product(*map(range, box))
            ]
            if not is_optical or self._are_on(box, places, server // fabric.servers):
                yield frozenset((server, self._slot(place)) for place in places)

    def _cubes(self, box: tuple[int, ...], servers: list[int]) -> Iterator[Taken]:
        """Whole cubes in any order: all sets of so many servers."""
        fabric: Any = self.fabric
        if any(e % s for e, s in zip(box, self._sides, strict=True)):
            return
        places = list(product(*map(range, self._sides)))
        if self._are_on(box, places, servers[0] // fabric.servers):
            for chosen in combinations(servers, prod(box) // len(self.slots)):
                yield frozenset(product(chosen, self.slots))

    def _are_on(self, box: tuple[int, ...], places: list[tuple[int, ...]], rack: int) -> bool:
        """Whether the switches work that these chips need along the axes that the box spans."""
        fabric: Any = self.fabric
        prefix = f"r{rack}." if fabric.racks > 1 else ""
        for axis, (e, s) in enumerate(zip(box, self._sides, strict=True)):
            if e < s:
                continue
            first, second = [i for i in range(3) if i != axis]
            for place in places:
                number = place[first] * self._sides[second] + place[second]
                if f"{prefix}{'xyz'[axis]}{number}" in self.failed_switches:
                    return False
        return True

    def _subcubes(self, digits: int, servers: list[int]) -> Iterator[Taken]:
        fabric: Any = self.fabric
        radix, length = fabric.radix, fabric.digits
        for server, free in product(servers, combinations(range(length), digits)):
            fixed = [i for i in range(length) if i not in free]
            for values in product(range(radix), repeat=len(fixed)):
                base = sum(value * radix**i for value, i in zip(values, fixed, strict=True))
                yield frozenset(
                    (server, base + sum(value * radix**i for value, i in zip(at, free, strict=True)))
                    for at in product(range(radix), repeat=digits)
                )


def _unions(options: list[Taken], count: int, taken: Taken) -> Iterator[Taken]:
    if count == 0:
        yield taken
        return
    for number, option in enumerate(options):
        if not option & taken:
            yield from _unions(options[number + 1 :], count - 1, taken | option)


def _collectives(c: Configuration) -> dict[str, Any]:
    """Collectives that shape a part: with data, or with context and expert where data sends nothing."""
    names = [*SENDING] if c.data_collective.kind != "none" else ["tensor", "pipeline", "context", "expert"]
    return {name: getattr(c, f"{name}_collective") for name in names}


def part_size(c: Configuration) -> int:
    """Ranks that exchange messages, directly or not."""
    return prod(prod(each.radices) for each in _collectives(c).values() if each.kind != "none")


def box_of(c: Configuration) -> tuple[int, ...]:
    """Extent along each axis of a torus."""
    radices = [each.radices for each in _collectives(c).values() if each.kind != "none"]
    return tuple(prod(each[axis] for each in radices) for axis in range(3))


def extents(c: Configuration) -> int:
    """Digits of a sipac that a part takes."""
    return sum(len(each.radices) for each in _collectives(c).values() if each.kind != "none")


def ports_needed(c: Configuration) -> int:
    """Ports each way that a rank needs on a rail."""
    total = 0
    for name in ("pipeline", "data"):
        each = getattr(c, f"{name}_collective")
        if not each.wavelengths:
            continue
        if each.kind == "line":
            total += each.wavelengths[0] * (1 if c.pipeline == 2 else 2)
        elif each.kind == "ring":
            total += each.wavelengths[0]
        elif each.kind == "transfer":
            met = {(grain // each.radices[1], grain // each.radices[0]) for grain in range(prod(each.radices))}
            ends = [*zip(*met, strict=True)]
            total += each.wavelengths[0] * max(side.count(place) for side in ends for place in side)
        else:
            total += sum((r - 1) * w for r, w in zip(each.radices, each.wavelengths, strict=True))
    return total
