"""A network of ranks and packet switches: its links, and the routes from rank to rank that pass switches alone."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Path = tuple[int, ...]
"""links, one after the other"""
MOST_HOPS = 5
"""links of a route"""
MOST_ROUTES = 8
"""that are kept from one rank to another"""


@dataclass(frozen=True)
class Link:
    """One direction of a link; nodes below the number of ranks are ranks, the others switches."""

    source: int
    destination: int
    bytes_per_s: float
    alpha_s: float
    """from the first byte sent to the first received"""


@dataclass(frozen=True)
class Route:
    """Links from one rank over switches to another; a message holds all of them at the rate of the slowest."""

    source: int
    destination: int
    links: Path
    alpha_s: float
    bytes_per_s: float

    def busy_s(self, size_bytes: float) -> float:
        """How long a message holds the links."""
        return size_bytes / self.bytes_per_s

    def time_s(self, size_bytes: float) -> float:
        """From the start of a message to its arrival."""
        return self.alpha_s + self.busy_s(size_bytes)


@dataclass(frozen=True)
class Network:
    """Ranks 0 .. ranks - 1, switches after them. Switches pass on what they receive: they neither copy nor add up."""

    name: str
    ranks: int
    switches: int
    links: tuple[Link, ...]

    @property
    def nodes(self) -> int:
        return self.ranks + self.switches

    @cached_property
    def leaving(self) -> tuple[tuple[int, ...], ...]:
        """Links out of each node."""
        return tuple(tuple(i for i, link in enumerate(self.links) if link.source == node) for node in range(self.nodes))

    def route(self, links: Path) -> Route:
        """The route over links that follow each other."""
        parts = [self.links[i] for i in links]
        slowest = min(part.bytes_per_s for part in parts)
        return Route(parts[0].source, parts[-1].destination, links, sum(part.alpha_s for part in parts), slowest)

    @cached_property
    def routes(self) -> tuple[Route, ...]:
        """Those of fewest links, at most `MOST_ROUTES` for each pair of ranks."""
        found: dict[tuple[int, int], list[Route]] = {}
        for rank in range(self.ranks):
            for links in self._over_switches((), rank, frozenset()):
                route = self.route(links)
                found.setdefault((rank, route.destination), []).append(route)
        for routes in found.values():
            routes.sort(key=lambda route: (len(route.links), route.alpha_s, -route.bytes_per_s))
        return tuple(route for routes in found.values() for route in routes[:MOST_ROUTES])

    def _over_switches(self, links: Path, node: int, passed: frozenset[int]) -> Iterator[Path]:
        """Ways on from a node to ranks."""
        start = self.links[links[0]].source if links else node
        for number in self.leaving[node] if len(links) < MOST_HOPS else ():
            after = self.links[number].destination
            if after < self.ranks:
                if after != start:
                    yield (*links, number)
            elif after not in passed:
                yield from self._over_switches((*links, number), after, passed | {after})

    def reversed(self) -> "Network":
        """With every link turned round, numbered as before."""
        turned = (replace(link, source=link.destination, destination=link.source) for link in self.links)
        return replace(self, links=tuple(turned))

    def distances_s(self, size_bytes: float) -> Floats:
        """Least time of a message from each rank to each other that nothing delays, shape (ranks, ranks)."""
        found = np.full((self.ranks, self.ranks), np.inf)
        np.fill_diagonal(found, 0.0)
        for route in self.routes:
            place = route.source, route.destination
            found[place] = min(found[place], route.time_s(size_bytes))
        for middle in range(self.ranks):
            found = np.minimum(found, found[:, middle, None] + found[None, middle])
        return found
