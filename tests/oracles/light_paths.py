"""Every way in which one circuit may run, as bit masks, written from planner/RULES.md alone."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from costmodel.fabrics import Lightpath
from planner.cluster import Cluster
from tests.oracles.circuits import wavelength_sets

Device = tuple[int, int]
TileCircuit = tuple[Device, Device, int]
"""source, destination, number of wavelengths"""
Pair = tuple[int, int]
"""ordered pair of servers"""
Boundary = tuple[int, int, int]
"""directed: server, from slot, to slot"""
EPSILON_DB = 1e-9


class Light(NamedTuple):
    """A way to run a circuit. `own` is what its configuration may use once, `shared` what other jobs meet."""

    fiber: int
    """number of the fiber among all healthy ones; -1 inside a server"""
    wavelengths: int
    own: int
    shared: int


class LightPaths:
    """All paths of a cluster.

    `slots_matter` is False where nothing but the servers of a circuit decides how it may run: light inside
    a server meets no other and no path is too long. Then slots of a server are alike, and fibers of a pair.
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
        self.slots_matter = self.is_shared or (budget is not None and longest > budget + EPSILON_DB)
        self._boundaries: dict[Boundary, int] = {}
        self._domains: dict[TileCircuit, tuple[Light, ...]] = {}

    def _losses(self, devices: Sequence[Device]) -> Iterator[float]:
        for source in devices:
            for destination in devices:
                for fiber, crossed in self.between(source, destination):
                    yield self._loss_db(fiber, crossed)

    def _loss_db(self, fiber: int, crossed: Sequence[Boundary]) -> float:
        return len(crossed) * self.fabric.loss_per_tile_db + (fiber >= 0) * self.fabric.loss_per_fiber_db

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

    def between(self, source: Device, destination: Device) -> Iterator[tuple[int, list[Boundary]]]:
        """Fiber (-1: none) and crossed boundaries of each way from one device to another."""
        if source[0] == destination[0]:
            yield -1, self._crossed(source[0], source[1], destination[1])
            return
        for number, (start, end, index) in enumerate(self.fibers):
            if (start, end) == (source[0], destination[0]):
                slot = index % self.fabric.tiles_per_server
                leaving = self._crossed(start, source[1], slot)
                yield number, leaving + self._crossed(end, slot, destination[1])

    def domain(self, circuit: TileCircuit) -> tuple[Light, ...]:
        """Every way to run a circuit that the rules of path and loss allow."""
        if circuit not in self._domains:
            self._domains[circuit] = tuple(self._lights(circuit))
        return self._domains[circuit]

    def _lights(self, circuit: TileCircuit) -> Iterator[Light]:
        source, destination, width = circuit
        budget = self.fabric.loss_budget_db
        most = self.fabric.wavelengths_per_tile
        for fiber, crossed in self.between(source, destination):
            if budget is not None and self._loss_db(fiber, crossed) > budget + EPSILON_DB:
                continue
            media = [fiber] if fiber >= 0 else []
            if self.is_shared:
                known = len(self.fibers)
                media += [known + self._boundaries.setdefault(b, len(self._boundaries)) for b in crossed]
            available = min(most, self.fabric.wavelengths_per_fiber) if fiber >= 0 else most
            for mask in wavelength_sets(width, available):
                yield Light(fiber, mask, *self._used(source, destination, mask, media))

    def _used(self, source: Device, destination: Device, mask: int, media: Sequence[int]) -> tuple[int, int]:
        """Bits of the transmitter, the receiver and the media, and those of the media alone."""
        fabric, width = self.fabric, self.fabric.wavelengths_per_tile
        out = source[0] * fabric.tiles_per_server + source[1]
        into = fabric.num_devices + destination[0] * fabric.tiles_per_server + destination[1]
        first = 2 * fabric.num_devices
        shared = sum(mask << width * (first + medium) for medium in media)
        return shared | mask << width * out | mask << width * into, shared
