"""From flows to ways: which way each whole chunk of an all-to-all takes."""

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from costmodel.collectives.synthesis.network import Network, Path
from costmodel.collectives.synthesis.relaying import Way

Floats = NDArray[np.float64]
NOTHING = 1e-7
"""of what one rank gives another: less is no flow"""
PASSES = 3
"""over all chunks, in which each may take another way"""


def ways_of(network: Network, flows: Floats, parts: int, rng: np.random.Generator) -> list[tuple[int, Way]]:
    """(chunk, way) of every chunk: of the ways that flows take, those that keep the busiest link least busy.

    `flows`: of what each rank sends, in units of what it gives one other, what crosses each link; shape (ranks, links).
    """
    paths = {
        (source, destination): ways
        for source in range(network.ranks)
        for destination, ways in _paths_from(network, source, flows[source].copy()).items()
    }
    chosen = _balanced(network, paths, parts, rng)
    return [
        ((source * network.ranks + destination) * parts + part, _legs(network, path))
        for (source, destination), own in sorted(chosen.items())
        for part, path in enumerate(own)
    ]


def _paths_from(network: Network, source: int, left: Floats) -> dict[int, list[Path]]:
    """Ways from a rank to each other, which together take up the flow from it."""
    found: dict[int, list[Path]] = {}
    for destination in (rank for rank in range(network.ranks) if rank != source):
        asked, ways = 1.0, []
        while asked > NOTHING:
            path = _shortest(network, source, destination, left)
            if path is None:
                break
            width = min(asked, *(float(left[link]) for link in path))
            left[list(path)] -= width
            asked -= width
            ways.append(path)
        found[destination] = ways or [_anyway(network, source, destination)]
    return found


def _anyway(network: Network, source: int, destination: int) -> Path:
    """A way of fewest links, where what is left of the flow is too little to follow."""
    path = _shortest(network, source, destination, np.ones(len(network.links)))
    if path is None:
        raise ValueError(f"links: no way leads from rank {source} to rank {destination}; join them")
    return path


def _shortest(network: Network, source: int, destination: int, left: Floats) -> Path | None:
    """Way of fewest links over links that have a flow left."""
    came: dict[int, int] = {}
    waiting, seen = deque([source]), {source}
    while waiting and destination not in seen:
        node = waiting.popleft()
        for link in network.leaving[node]:
            after = network.links[link].destination
            if left[link] > NOTHING and after not in seen:
                seen.add(after)
                came[after] = link
                waiting.append(after)
    if destination not in seen:
        return None
    path: list[int] = []
    node = destination
    while node != source:
        path.append(came[node])
        node = network.links[came[node]].source
    return tuple(path[::-1])


def _balanced(
    network: Network, paths: Mapping[tuple[int, int], Sequence[Path]], parts: int, rng: np.random.Generator
) -> dict[tuple[int, int], list[Path]]:
    """A way for each part of each pair, one after the other and then anew."""
    cost = 1 / np.array([link.bytes_per_s for link in network.links])
    cost /= cost.max()
    load = np.zeros(len(network.links))
    chosen: dict[tuple[int, int], list[Path]] = {pair: [] for pair in paths}
    pairs = [pair for pair in paths for _ in range(parts)]
    for turn in range(PASSES):
        for place in rng.permutation(len(pairs)):
            pair = pairs[int(place)]
            if turn:
                before = chosen[pair].pop(0)
                load[list(before)] -= cost[list(before)]
            after = min(paths[pair], key=lambda path: _busiest(load, cost, path))
            load[list(after)] += cost[list(after)]
            chosen[pair].append(after)
    return chosen


def _busiest(load: Floats, cost: Floats, path: Path) -> tuple[float, float]:
    links = list(path)
    after = load[links] + cost[links]
    return float(after.max()), float(after.sum())


def _legs(network: Network, path: Path) -> Way:
    """A way cut at the ranks that it passes."""
    legs: list[list[int]] = [[]]
    for link in path:
        legs[-1].append(link)
        if network.links[link].destination < network.ranks:
            legs.append([])
    return tuple(tuple(leg) for leg in legs if leg)
