"""Every way in which one circuit may run, as bit masks, written from planner/RULES.md alone."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from costmodel.fabrics import Lightpath
from planner.model.cluster import Cluster
from tests.oracles.circuits import wavelength_sets

Device = tuple[int, int]
TileCircuit = tuple[Device, Device, int]
"""source, destination, number of wavelengths"""
Pair = tuple[int, int]
"""ordered pair of servers"""
Boundary = tuple[int, int, int]
"""directed: server, from slot, to slot"""
Route = tuple[int, ...]
"""numbers of fibers among all healthy ones, in the order of the light; () inside a server"""
EPSILON_DB = 1e-9


class Light(NamedTuple):
    """A way to run a circuit. `own` is what its configuration may use once, `shared` what other jobs meet."""

    route: Route
    wavelengths: int
    own: int
    shared: int


class LightPaths:
    """All paths of a cluster.

    `slots_matter` is False where nothing but the servers of a circuit decides how it may run: light inside
    a server meets no other, no path is too long and no laser or receiver has failed. Then slots of a server are
    alike, and fibers of a pair.
    """

    def __init__(self, cluster: Cluster) -> None:
        assert isinstance(cluster.fabric, Lightpath)
        self.fabric = fabric = cluster.fabric
        servers = range(fabric.num_servers)
        pairs = [(a, b) for a in servers for b in servers if a != b]
        self.fibers = [(*pair, i) for pair in pairs for i in cluster.healthy_fibers(*pair)]
        self.num_healthy = {pair: len(cluster.healthy_fibers(*pair)) for pair in pairs}
        self.is_shared = fabric.waveguides == "shared"
        devices = [(server, slot) for server in servers for slot in range(fabric.tiles_per_server)]
        longest = max(self._losses(devices), default=0.0)
        budget = fabric.loss_budget_db
        health = cluster.health
        self.lost = [
            {(*fabric.parse_device(part.tile), part.wavelength) for part in parts}
            for parts in (health.failed_lasers, health.failed_receivers)
        ]
        """(server, slot, wavelength) that cannot be sent, and that cannot be received"""
        is_too_long = budget is not None and longest > budget + EPSILON_DB
        self.slots_matter = self.is_shared or is_too_long or any(self.lost)
        self._boundaries: dict[Boundary, int] = {}
        self._domains: dict[TileCircuit, tuple[Light, ...]] = {}

    def _losses(self, devices: Sequence[Device]) -> Iterator[float]:
        for source in devices:
            for destination in devices:
                for route, crossed in self.between(source, destination):
                    yield self._loss_db(route, crossed)

    def _loss_db(self, route: Route, crossed: Sequence[Boundary]) -> float:
        return len(crossed) * self.fabric.loss_per_tile_db + len(route) * self.fabric.loss_per_fiber_db

    def alike(self) -> list[int]:
        """Masks of wavelengths that any two circuits may exchange: carried by fibers or not, lost on the same tiles."""
        kinds: dict[object, int] = {}
        for w in range(self.fabric.wavelengths_per_tile):
            tiles = tuple(tuple(sorted(part[:2] for part in lost if part[2] == w)) for lost in self.lost)
            kind = w < self.fabric.wavelengths_per_fiber, tiles
            kinds[kind] = kinds.get(kind, 0) | 1 << w
        return [*kinds.values()]

    @cache  # noqa: B019
    def _crossed(self, server: int, source: int, destination: int) -> list[Boundary]:
        """Directed tile boundaries (server, from slot, to slot): along the row, then along the column."""
        columns = self.fabric.tiles_per_server // self.fabric.tile_rows
        row, column = divmod(source, columns)
        last_row, last_column = divmod(destination, columns)
        slots = [source]
        while column != last_column:
            column += 1 if last_column > column else -1
            slots.append(row * columns + column)
        while row != last_row:
            row += 1 if last_row > row else -1
            slots.append(row * columns + column)
        return [(server, a, b) for a, b in pairwise(slots)]

    def between(self, source: Device, destination: Device) -> Iterator[tuple[Route, list[Boundary]]]:
        """Fibers and crossed boundaries of each way from one device to another."""
        if source[0] == destination[0]:
            yield (), self._crossed(source[0], source[1], destination[1])
            return
        yield from self._onward(source, destination, (), [], {source[0]})

    def _onward(
        self, here: Device, destination: Device, route: Route, crossed: list[Boundary], visited: set[int]
    ) -> Iterator[tuple[Route, list[Boundary]]]:
        """Every way to go on over fibers, to servers that were not visited."""
        for number, (start, end, index) in enumerate(self.fibers):
            if start != here[0] or end in visited:
                continue
            slot = index % self.fabric.tiles_per_server
            so_far = crossed + self._crossed(start, here[1], slot)
            if end == destination[0]:
                yield (*route, number), so_far + self._crossed(end, slot, destination[1])
            elif len(route) < self.fabric.transit:
                yield from self._onward((end, slot), destination, (*route, number), so_far, visited | {end})

    def domain(self, circuit: TileCircuit) -> tuple[Light, ...]:
        """Every way to run a circuit that the rules of path and loss allow."""
        if circuit not in self._domains:
            self._domains[circuit] = tuple(self._lights(circuit))
        return self._domains[circuit]

    def _lights(self, circuit: TileCircuit) -> Iterator[Light]:
        source, destination, width = circuit
        budget = self.fabric.loss_budget_db
        most = self.fabric.wavelengths_per_tile
        dark = {w for server, slot, w in self.lost[0] if (server, slot) == source}
        dark |= {w for server, slot, w in self.lost[1] if (server, slot) == destination}
        for route, crossed in self.between(source, destination):
            if budget is not None and self._loss_db(route, crossed) > budget + EPSILON_DB:
                continue
            media = list(route)
            if self.is_shared:
                known = len(self.fibers)
                media += [known + self._boundaries.setdefault(b, len(self._boundaries)) for b in crossed]
            available = min(most, self.fabric.wavelengths_per_fiber) if route else most
            for mask in wavelength_sets(width, available):
                if not any(mask >> w & 1 for w in dark):
                    yield Light(route, mask, *self._used(source, destination, mask, media))

    def _used(self, source: Device, destination: Device, mask: int, media: Sequence[int]) -> tuple[int, int]:
        """Bits of the transmitter, the receiver and the media, and those of the media alone."""
        fabric, width = self.fabric, self.fabric.wavelengths_per_tile
        out = source[0] * fabric.tiles_per_server + source[1]
        into = fabric.num_devices + destination[0] * fabric.tiles_per_server + destination[1]
        first = 2 * fabric.num_devices
        shared = sum(mask << width * (first + medium) for medium in media)
        return shared | mask << width * out | mask << width * into, shared
