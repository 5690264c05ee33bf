"""Schedules of all-to-alls along given ways, chunk by chunk as links become free."""

import heapq
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from costmodel.collectives.synthesis.network import Network, Path
from costmodel.collectives.synthesis.timed import Transfer

Way = tuple[Path, ...]
"""routes from rank to rank, one after the other"""
SAME = 1e-12


def relay(
    network: Network, ways: Sequence[tuple[int, Way]], chunk_bytes: float, rng: np.random.Generator | None
) -> tuple[Transfer, ...]:
    """Transfers that bring every chunk along its way, in order of time; ways are (chunk, routes).

    Of the chunks that wait for a route, the one goes first that has most busy links before it.
    """
    return _Relaying(network, ways, chunk_bytes, rng).run()


class _Relaying:
    """Where each chunk waits, and when links are free."""

    def __init__(
        self, network: Network, ways: Sequence[tuple[int, Way]], chunk_bytes: float, rng: np.random.Generator | None
    ) -> None:
        self.network, self.ways, self.chunk_bytes, self.rng = network, ways, chunk_bytes, rng
        self.free_s = [0.0] * len(network.links)
        self.waiting: defaultdict[Path, list[tuple[float, int, int]]] = defaultdict(list)
        """by route: (less urgent, way, hop), a heap"""
        self.over_link: list[list[Path]] = [[] for _ in network.links]
        for path in {path for _, way in ways for path in way}:
            for link in path:
                self.over_link[link].append(path)
        self.load = self._load()

    def _load(self) -> list[float]:
        """Share of the busiest link's time that each link is held."""
        held_s = [0.0] * len(self.network.links)
        for _, way in self.ways:
            for path in way:
                for link in path:
                    held_s[link] += self.network.route(path).busy_s(self.chunk_bytes)
        most_s = max(held_s, default=0.0)
        return [each / most_s if most_s > 0 else 0.0 for each in held_s]

    def run(self) -> tuple[Transfer, ...]:
        """Event by event, until every chunk is there."""
        sent: list[Transfer] = []
        events: list[tuple[float, int, int, tuple[Path, ...]]] = []
        for number in range(len(self.ways)):
            events.append((0.0, number, 0, ()))
        heapq.heapify(events)
        while events:
            now_s = events[0][0]
            asked: set[Path] = set()
            while events and events[0][0] <= now_s * (1 + SAME):
                _, number, hop, paths = heapq.heappop(events)
                asked |= {*paths, *self._arrive(number, hop)}
            for path in sorted(asked, key=self._urgency, reverse=True):
                if not self.waiting[path] or any(self.free_s[link] > now_s * (1 + SAME) for link in path):
                    continue
                _, number, hop = heapq.heappop(self.waiting[path])
                sent.append(Transfer(self.ways[number][0], path, now_s))
                route = self.network.route(path)
                free_s = now_s + route.busy_s(self.chunk_bytes)
                for link in path:
                    self.free_s[link] = free_s
                others = {other for link in path for other in self.over_link[link]}
                heapq.heappush(events, (free_s, -1, 0, tuple(others)))
                heapq.heappush(events, (now_s + route.time_s(self.chunk_bytes), number, hop + 1, ()))
        return tuple(sent)

    def _arrive(self, number: int, hop: int) -> tuple[Path, ...]:
        """Put a chunk where it waits next; the route that it waits for, if any."""
        way = self.ways[number][1] if number >= 0 else ()
        if hop >= len(way):
            return ()
        ahead = sum(self.load[link] for path in way[hop:] for link in path)
        if self.rng is not None:
            ahead *= 1 + 0.1 * float(self.rng.random())
        heapq.heappush(self.waiting[way[hop]], (-ahead, number, hop))
        return (way[hop],)

    def _urgency(self, path: Path) -> tuple[float, Path]:
        return (-self.waiting[path][0][0] if self.waiting[path] else 0.0), path
