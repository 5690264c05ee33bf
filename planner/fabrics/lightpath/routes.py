"""Routes of circuits between servers: which there are, what they cross, and whether they lose too much light.

Chains of servers are extended here and not by networkx, whose simple paths of each length, in the same order, take 7
times as long on a mesh of 8 servers and 57 times on a grid of 64: it does not know the hops that are left.
"""

from collections import deque
from collections.abc import Iterator
from functools import cached_property
from itertools import islice, pairwise, product

import numpy as np

from costmodel.fabrics import Fiber, Lightpath, Route
from costmodel.fabrics.lightpath import ROUNDING_DB
from planner.fabrics.free_slots import Device as Device
from planner.model.cluster import Cluster

Waveguide = Fiber | tuple[str, int, int, int]
"""A fiber, or ("tile", server, from slot, to slot) where waveguides are shared"""
Chain = tuple[int, ...]
"""servers that light visits, both ends included"""
FIRST_CHAINS = 200
"""chains that first fit tries for one circuit"""


class Routes:
    """Routes over the healthy fibers of a cluster; failed tiles and ports still pass light."""

    def __init__(self, cluster: Cluster) -> None:
        assert isinstance(cluster.fabric, Lightpath)
        self.cluster = cluster
        self.fabric: Lightpath = cluster.fabric
        self._fibers: dict[tuple[int, int], tuple[int, ...]] = {}
        self._chains: dict[tuple[int, int], tuple[Chain, ...]] = {}
        self._routes: dict[tuple[int, int], tuple[Route, ...]] = {}
        self._guides: dict[tuple[Device, Device, Route], list[Waveguide]] = {}

    def fibers(self, source: int, destination: int) -> tuple[int, ...]:
        """Healthy fibers of an ordered pair of servers."""
        pair = source, destination
        if pair not in self._fibers:
            self._fibers[pair] = self.cluster.healthy_fibers(source, destination)
        return self._fibers[pair]

    def capacity(self, source: int, destination: int) -> int:
        """Wavelengths that the fibers of an ordered pair carry."""
        per_fiber = min(self.fabric.wavelengths_per_fiber, self.fabric.wavelengths_per_tile)
        return per_fiber * len(self.fibers(source, destination))

    @cached_property
    def may_cross(self) -> bool:
        """True if circuits may cross third servers."""
        return self.fabric.most_hops > 1

    @cached_property
    def onward(self) -> list[list[int]]:
        """Servers that fibers of each server lead to."""
        servers = range(self.fabric.num_servers)
        return [[b for b in servers if self.fibers(a, b)] for a in servers]

    @cached_property
    def backward(self) -> list[list[int]]:
        """Servers that fibers to each server come from."""
        return [[a for a, near in enumerate(self.onward) if b in near] for b in range(self.fabric.num_servers)]

    @cached_property
    def hops(self) -> list[list[int]]:
        """Fewest fibers from each server to each other one; more than there are servers where there is no way."""
        return [self._hops_from(server) for server in range(self.fabric.num_servers)]

    def _hops_from(self, source: int) -> list[int]:
        hops = [self.fabric.num_servers + 1] * self.fabric.num_servers
        hops[source], queue = 0, deque([source])
        while queue:
            here = queue.popleft()
            for there in self.onward[here]:
                if hops[there] > hops[here] + 1:
                    hops[there] = hops[here] + 1
                    queue.append(there)
        return hops

    def joins(self, source: int, destination: int) -> bool:
        """True if light may go from one server to another, its loss inside servers left aside."""
        if not self.may_cross:
            return source == destination or (self.fabric.most_hops == 1 and bool(self.fibers(source, destination)))
        return self.hops[source][destination] <= self.fabric.most_hops

    def chains(self, source: int, destination: int) -> Iterator[Chain]:
        """Servers on each way, the fewest first; no server is visited twice."""
        if not self.may_cross or source == destination:
            if self.joins(source, destination):
                yield (source,) if source == destination else (source, destination)
            return
        for length in range(1, self.fabric.most_hops + 1):
            yield from self._extended((source,), destination, length)

    def _extended(self, chain: Chain, destination: int, left: int) -> Iterator[Chain]:
        """Chains that go on over exactly so many fibers."""
        if left == 0:
            yield chain
            return
        for there in self.onward[chain[-1]]:
            is_end = there == destination
            if there not in chain and is_end == (left == 1) and self.hops[there][destination] < left:
                yield from self._extended((*chain, there), destination, left - 1)

    def first_chains(self, source: int, destination: int) -> tuple[Chain, ...]:
        """The shortest chains, as many as first fit tries."""
        pair = source, destination
        if pair not in self._chains:
            self._chains[pair] = tuple(islice(self.chains(source, destination), FIRST_CHAINS))
        return self._chains[pair]

    def routes(self, source: int, destination: int) -> tuple[Route, ...]:
        """All ways over fibers from one server to another."""
        pair = source, destination
        if pair not in self._routes:
            self._routes[pair] = tuple(
                route
                for chain in self.chains(source, destination)
                for route in product(*([(a, b, i) for i in self.fibers(a, b)] for a, b in pairwise(chain)))
            )
        return self._routes[pair]

    @cached_property
    def _walks(self) -> list[list[int]]:
        servers = range(self.fabric.num_servers)
        fibers = np.array([[len(self.fibers(a, b)) for b in servers] for a in servers], dtype=object)
        power = total = np.zeros_like(fibers)
        for hop in range(self.fabric.most_hops):
            power = fibers if hop == 0 else power @ fibers
            total = total + power
        return [[int(count) for count in row] for row in total]

    def most_routes(self, source: int, destination: int) -> int:
        """Number of routes or more: ways that come back to a server are counted as well."""
        return self._walks[source][destination]

    def waveguides(self, source: Device, destination: Device, route: Route) -> list[Waveguide]:
        """Everything on the way where light could meet other light."""
        key = source, destination, route
        if key not in self._guides:
            guides: list[Waveguide] = [*route]
            if self.fabric.waveguides == "shared":
                guides += [("tile", *step) for step in self.fabric.crossed(source, route, destination)]
            self._guides[key] = guides
        return self._guides[key]

    def name(self, guide: Waveguide) -> str:
        """How messages call a fiber or a waveguide."""
        if len(guide) == 4:
            _, server, source, destination = guide
            ends = self.fabric.device_name(server, source), self.fabric.device_name(server, destination)
            return f"waveguide {ends[0]} to {ends[1]}"
        source, destination, index = guide
        return f"fiber {self.fabric.fiber_name(source, destination, index)}"

    def reaches(self, source: Device, destination: Device, route: Route) -> bool:
        """True if the loss of the path is within the budget."""
        budget = self.fabric.loss_budget_db
        if budget is None:
            return True
        crossings = len(self.fabric.crossed(source, route, destination))
        return self.fabric.loss_db(crossings, len(route)) <= budget + ROUNDING_DB
