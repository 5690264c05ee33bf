"""The families of `costmodel.collectives` on any network: rings, mixed radices, trees, exchanges, relays.

Each message of a round goes the quickest way over the links that there are; a rank begins a round when all that earlier
rounds brought it is there. A ring goes round the fastest links that make one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costmodel.collectives.build import schedule_of
from costmodel.collectives.family import Family, plans_of
from costmodel.collectives.ladder import Collective
from costmodel.collectives.limits import Limits
from costmodel.collectives.plan import CollectivePlan
from costmodel.collectives.schedule import LOCAL, Schedule
from costmodel.collectives.synthesis.network import Network, Route
from costmodel.collectives.synthesis.timed import chunk_bytes_of

MOST_STEPS = 20_000
"""of a search for a ring over links of one speed"""


@dataclass(frozen=True)
class FamilyTime:
    """The quickest plan of a family on a network."""

    name: str
    schedule: Schedule
    time_s: float


def best_family(network: Network, collective: Collective, message_bytes: float) -> FamilyTime:
    """The quickest of all plans that any number of peers and of rounds calls for, circuits held."""
    ways = _Ways(network, message_bytes)
    found = (
        FamilyTime(plan.name, schedule, ways.time_s(schedule))
        for plan in _plans(network.ranks, collective)
        for schedule in _numbered(network, schedule_of(plan), plan)
    )
    return min(found, key=lambda each: each.time_s)


def _plans(ranks: int, collective: Collective) -> Iterator[CollectivePlan]:
    known = set()
    for peers in range(1, max(ranks, 2)):
        limits = Limits(max(ranks, 2), peers, 1e-6, 0.0, 1e9)
        for plan in plans_of(collective, ranks, limits, Family(orders=("fixed",))):
            if (plan.kind, plan.radices) not in known:
                known.add((plan.kind, plan.radices))
                yield plan


def _numbered(network: Network, schedule: Schedule, plan: CollectivePlan) -> Iterator[Schedule]:
    """A schedule with ranks as they are, and where ranks are alike in the order of a fast ring."""
    yield schedule
    if plan.collective in ("all_reduce", "reduce_scatter", "all_gather"):
        ring = ring_of(network)
        if ring is not None and ring != tuple(range(network.ranks)):
            yield schedule.relabelled(ring)


def ring_of(network: Network) -> tuple[int, ...] | None:
    """Ranks in the order of a ring over routes as fast as may be; None where none is found."""
    for rate in sorted({route.bytes_per_s for route in network.routes}, reverse=True):
        after: list[list[int]] = [[] for _ in range(network.ranks)]
        for route in network.routes:
            if route.bytes_per_s >= rate and route.destination not in after[route.source]:
                after[route.source].append(route.destination)
        ring = _ring(after)
        if ring is not None:
            return ring
    return None


def _ring(after: list[list[int]]) -> tuple[int, ...] | None:
    """A circle through all ranks, by trying ranks with few ways on first."""
    path, seen, steps = [0], {0}, 0
    choices = [sorted(after[0], key=lambda rank: len(after[rank]))]
    while choices and steps < MOST_STEPS:
        steps += 1
        if len(path) == len(after) and 0 in after[path[-1]]:
            return tuple(path)
        rest = choices[-1]
        while rest and rest[0] in seen:
            rest.pop(0)
        if not rest:
            choices.pop()
            seen.discard(path.pop())
            continue
        rank = rest.pop(0)
        path.append(rank)
        seen.add(rank)
        choices.append(sorted(after[rank], key=lambda one: len(after[one])))
    return None


class _Ways:
    """The quickest way of a message from each rank to each other."""

    def __init__(self, network: Network, message_bytes: float) -> None:
        self.network, self.message_bytes = network, message_bytes

    @cached_property
    def _quickest(self) -> dict[tuple[int, int], Route]:
        size_bytes = chunk_bytes_of("all_gather", self.network.ranks, 1, self.message_bytes)
        found: dict[tuple[int, int], Route] = {}
        for route in self.network.routes:
            place = route.source, route.destination
            if place not in found or route.time_s(size_bytes) < found[place].time_s(size_bytes):
                found[place] = route
        return found

    @cached_property
    def _legs(self) -> dict[tuple[int, int], tuple[Route, ...]]:
        size_bytes = chunk_bytes_of("all_gather", self.network.ranks, 1, self.message_bytes)
        ranks, quickest = range(self.network.ranks), self._quickest
        legs: dict[tuple[int, int], tuple[Route, ...]] = {place: (route,) for place, route in quickest.items()}
        time_s = {place: route.time_s(size_bytes) for place, route in quickest.items()}
        for middle in ranks:
            for place in ((a, b) for a in ranks for b in ranks if a != b):
                first, second = (place[0], middle), (middle, place[1])
                if first in time_s and second in time_s:
                    through_s = time_s[first] + time_s[second]
                    if through_s < time_s.get(place, np.inf):
                        time_s[place], legs[place] = through_s, legs[first] + legs[second]
        return legs

    def time_s(self, schedule: Schedule) -> float:
        """Of the first call of a schedule; what goes from one rank to another in one round is one message."""
        chunk_bytes = self.message_bytes / schedule.num_chunks
        free_s = [0.0] * len(self.network.links)
        ready_s = [0.0] * self.network.ranks
        starts = schedule.starts
        for number in range(len(schedule.configuration_of)):
            rows = slice(int(starts[number]), int(starts[number + 1]))
            is_wire = (schedule.circuit[rows] != LOCAL) & (schedule.call_of[number] == 0)
            pairs = np.stack([schedule.sender[rows][is_wire], schedule.receiver[rows][is_wire]], axis=1)
            ends, counts = np.unique(pairs, axis=0, return_counts=True)
            before_s = list(ready_s)
            for (source, destination), count in zip(ends.tolist(), counts.tolist(), strict=True):
                now_s = before_s[source]
                for route in self._legs[source, destination]:
                    start_s = max([now_s, *(free_s[link] for link in route.links)])
                    now_s = start_s + route.time_s(count * chunk_bytes)
                    for link in route.links:
                        free_s[link] = start_s + route.busy_s(count * chunk_bytes)
                ready_s[destination] = max(ready_s[destination], now_s)
        return max(ready_s)
