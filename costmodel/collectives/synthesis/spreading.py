"""Schedules of all-gathers and broadcasts, chunk by chunk as links become free.

Whenever the links of a route are free, its sender picks, of the chunks that it has and the receiver lacks, the one
whose copy there brings all ranks that lack it nearest to one. Source of the idea, to match free links with chunks as
time goes on: Won et al., *TACOS* (arXiv:2304.05301); the choice of the chunk is ours.
"""

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.synthesis.network import Network, Route
from costmodel.collectives.synthesis.timed import Transfer

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
NOISE = 0.1
"""relative, on what a copy gains, from the second trial on"""
SAME = 1e-12


def spread(
    network: Network, sources: Sequence[int], chunk_bytes: float, *, patience: float, rng: np.random.Generator | None
) -> tuple[Transfer, ...]:
    """Transfers that bring chunk c from rank sources[c] to all ranks, in order of time.

    `patience`: a route stays unused where another holder reaches the receiver in less than 1 / patience of its time; 0:
    no route waits. `rng`: of small random changes, None for none.
    """
    return _Spreading(network, sources, chunk_bytes, patience, rng).run()


class _Spreading:
    """Who has what from when on, and when links are free."""

    def __init__(
        self,
        network: Network,
        sources: Sequence[int],
        chunk_bytes: float,
        patience: float,
        rng: np.random.Generator | None,
    ) -> None:
        self.network, self.chunk_bytes, self.patience, self.rng = network, chunk_bytes, patience, rng
        self.far_s = network.distances_s(chunk_bytes)
        chunks, place = len(sources), np.arange(len(sources))
        self.arrival_s: Floats = np.full((chunks, network.ranks), np.inf)
        self.arrival_s[place, list(sources)] = 0.0
        self.is_promised: Bools = np.isfinite(self.arrival_s)
        self.near_s: Floats = self.far_s[list(sources)].copy()
        """(chunk, rank): least time from any rank that has it, or that it is on the way to"""
        self.free_s = [0.0] * len(network.links)
        self.from_rank: list[list[int]] = [[] for _ in range(network.ranks)]
        self.over_link: list[list[int]] = [[] for _ in network.links]
        for number, route in enumerate(network.routes):
            self.from_rank[route.source].append(number)
            for link in route.links:
                self.over_link[link].append(number)

    def run(self) -> tuple[Transfer, ...]:
        """Event by event, until nothing moves."""
        routes, sent = self.network.routes, []
        events: list[tuple[float, tuple[int, ...]]] = [(0.0, tuple(range(len(routes))))]
        while events:
            now_s, numbers = heapq.heappop(events)
            asked = set(numbers)
            while events and events[0][0] <= now_s * (1 + SAME):
                asked |= set(heapq.heappop(events)[1])
            for number in self._in_turn(sorted(asked)):
                route = routes[number]
                if any(self.free_s[link] > now_s * (1 + SAME) for link in route.links):
                    continue
                chunk = self._choice(route, now_s)
                if chunk is None:
                    continue
                sent.append(Transfer(chunk, route.links, now_s))
                free_s, there_s = self._send(chunk, route, now_s)
                waiting = {other for link in route.links for other in self.over_link[link]}
                heapq.heappush(events, (free_s, tuple(waiting)))
                heapq.heappush(events, (there_s, tuple(self.from_rank[route.destination])))
        return tuple(sent)

    def _in_turn(self, numbers: list[int]) -> list[int]:
        """Slow routes first, as their time is dear."""
        routes = self.network.routes
        if self.rng is not None:
            self.rng.shuffle(numbers)
        return sorted(numbers, key=lambda number: routes[number].bytes_per_s)

    def _choice(self, route: Route, now_s: float) -> int | None:
        is_there = self.arrival_s[:, route.source] <= now_s * (1 + SAME)
        chunks = np.flatnonzero(is_there & ~self.is_promised[:, route.destination])
        if not len(chunks):
            return None
        limit_s = route.time_s(self.chunk_bytes) * (1 - 1e-9)
        chunks = chunks[self.near_s[chunks, route.destination] * max(self.patience, SAME) >= limit_s * self.patience]
        if not len(chunks):
            return None
        nearer_s = np.maximum(self.near_s[chunks] - self.far_s[route.destination], 0.0)
        gain = (nearer_s * ~self.is_promised[chunks]).sum(axis=1)
        if self.rng is not None:
            gain = gain * (1 + NOISE * self.rng.random(len(gain)))
        return int(chunks[np.argmax(gain)])

    def _send(self, chunk: int, route: Route, now_s: float) -> tuple[float, float]:
        """When the links are free again, and when the chunk is there."""
        free_s, there_s = now_s + route.busy_s(self.chunk_bytes), now_s + route.time_s(self.chunk_bytes)
        for link in route.links:
            self.free_s[link] = free_s
        self.is_promised[chunk, route.destination] = True
        self.arrival_s[chunk, route.destination] = there_s
        self.near_s[chunk] = np.minimum(self.near_s[chunk], self.far_s[route.destination])
        return free_s, there_s
