"""Times that no schedule on a network goes below.

The bound of an all-gather by cuts is that of Zhao et al., *ForestColl* (arXiv:2402.06787): a set of nodes that leaves a
rank out must send what its ranks give over the links that leave it. The worst set is found by maximum flows, as in
discrete Newton steps: from a set, the rate at which it would be full; at that rate, a set that is fuller still. That an
all-reduce over p parts takes 2 (p - 1) messages is the count of gossip by one-way messages (Harary and Schwenk, 1974).
Flows over time weigh latency and bandwidth together, see `quickest`; where routes of different latency share a link
they know only the least, so that the simpler bounds stay beside them.
"""

from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

import networkx as nx
import numpy as np

from costmodel.collectives.ladder import Collective
from costmodel.collectives.synthesis.network import Floats, Network
from costmodel.collectives.synthesis.quickest import quickest_s

Ranks = frozenset[int]
MOST_LINKS = 50_000
"""of all flows over time that begin or end on one rank; where there are more, not every rank has its own"""
CLOSE = 1 - 1e-9
"""a flow within this share is full"""
SOURCE = "source"


class Bound(NamedTuple):
    """A proven time and what proves it."""

    time_s: float
    reason: str


def bound_of(network: Network, collective: Collective, message_bytes: float) -> Bound:
    """The largest of the bounds below; of an all-to-all a linear program has a better one, which needs a solver."""
    bounds = [Bound(latency_s(network, collective), "latency of the farthest ranks")]
    if message_bytes > 0 and network.ranks > 1:
        bounds += _by_bandwidth(network, collective, message_bytes)
        bounds += _after_latency(network, collective, message_bytes)
        best_s = max(bound.time_s for bound in bounds)
        bounds += _over_time(network, collective, message_bytes, best_s)
    return max(bounds, key=lambda bound: bound.time_s)


def latency_s(network: Network, collective: Collective) -> float:
    """Least time until the ranks that are farthest apart have met, without any bytes."""
    far = network.distances_s(0.0)
    return float(far[0].max() if collective == "broadcast" else far.max())


def _by_bandwidth(network: Network, collective: Collective, message_bytes: float) -> Iterator[Bound]:
    given_bytes = message_bytes / network.ranks
    if collective == "broadcast":
        yield _broadcast(network, message_bytes)
    elif collective == "all_gather":
        yield _gather(network, given_bytes)
    elif collective == "reduce_scatter":
        yield _gather(network.reversed(), given_bytes)
    elif collective == "all_reduce":
        yield from (_sums(network, parts, message_bytes) for parts in _partitions(network))
    else:
        yield from (_exchange(network, part, given_bytes) for part in _parts(network))


def _after_latency(network: Network, collective: Collective, message_bytes: float) -> Iterator[Bound]:
    """What far ranks send begins to arrive after its latency, over the links into a rank; of a reduce-scatter, which is
    an all-gather run backwards, what leaves a rank for far ones leaves so long before the end."""
    if collective == "reduce_scatter":
        yield from _after_latency(network.reversed(), "all_gather", message_bytes)
        return
    far_s, turned = network.distances_s(0.0), network.reversed()
    for rank in range(network.ranks):
        rate, before_bytes = _leaving(turned, frozenset({rank})), _before_bytes(network, rank)
        sources_s = far_s[:1, rank] if collective == "broadcast" else np.delete(far_s[:, rank], rank)
        for latency_s in {float(each) for each in sources_s if each > 0}:
            share = np.count_nonzero(sources_s >= latency_s) / network.ranks
            sent_bytes = message_bytes * (1.0 if collective in ("broadcast", "all_reduce") else share)
            late_s = max(sent_bytes - before_bytes, 0.0) / rate
            yield Bound(latency_s + late_s, f"what comes from far to rank {rank}")


def _before_bytes(network: Network, rank: int) -> float:
    """What links into a rank may carry beyond the time between a latency and the end: as they are held from the start
    of a message on, routes of different latency over one link hold it for different spans of time."""
    found = 0.0
    for number in {route.links[-1] for route in network.routes if route.destination == rank}:
        alphas_s = [route.alpha_s for route in network.routes if route.links[-1] == number]
        found += (max(alphas_s) - min(alphas_s)) * network.links[number].bytes_per_s
    return found


def _over_time(network: Network, collective: Collective, message_bytes: float, best_s: float) -> Iterator[Bound]:
    """Flows over time from ranks to ranks, for each rank and for parts of the network, that take longer than the best
    bound so far."""
    for sources, sinks, shares in _must_go(network, collective):
        time_s = quickest_s(network, sources, sinks, shares * message_bytes / network.ranks, best_s)
        if time_s > best_s:
            best_s = time_s
            yield Bound(time_s, f"flow over time of what {len(sources)} of {network.ranks} ranks send to {len(sinks)}")


def _must_go(network: Network, collective: Collective) -> Iterator[tuple[Ranks, Ranks, int]]:
    """Ranks from which different bytes go to other ranks, and how many, counted in what one rank gives an all-gather.

    Of sums each rank's part of every byte goes to whom gets the sum, alone or in one with others.
    """
    far_s, ranks = network.distances_s(0.0), network.ranks
    each = 1 + ranks * len(network.links) // MOST_LINKS
    if collective == "broadcast":
        yield from ((frozenset({0}), frozenset({rank}), ranks) for rank in range(1, ranks, each))
        return
    for rank in range(0, ranks, each):
        own = frozenset({rank})
        into, out = _by_distance(far_s[:, rank], rank), _by_distance(far_s[rank], rank)
        if collective == "all_reduce":
            yield frozenset({min(into[-1])}), own, ranks
            yield own, frozenset({min(out[-1])}), ranks
        if collective in ("all_gather", "all_to_all"):
            yield from ((others, own, len(others)) for others in into)
        if collective in ("reduce_scatter", "all_to_all"):
            yield from ((own, others, len(others)) for others in out)
    if collective == "all_to_all":
        for inside in (
            frozenset(node for node in part if node < ranks) for part in islice(_groups(network), 0, None, each)
        ):
            yield inside, frozenset(range(ranks)) - inside, len(inside) * (ranks - len(inside))


def _by_distance(far_s: Floats, rank: int) -> list[Ranks]:
    """The other ranks that are so far or farther, for each distance, the farthest last."""
    others = [other for other in range(len(far_s)) if other != rank]
    distances_s = sorted({float(far_s[other]) for other in others})
    return [frozenset(other for other in others if far_s[other] >= least_s) for least_s in distances_s]


def _gather(network: Network, given_bytes: float) -> Bound:
    """Of what each rank gives to all."""
    part = frozenset({0})
    while True:
        ratio = _ranks_in(network, part) / _leaving(network, part)
        fuller = _fuller_cut(network, ratio)
        if fuller is None:
            break
        part = fuller
    transfer_s = ratio * given_bytes + _least_alpha_s(network, part)
    return Bound(transfer_s, f"what {_ranks_in(network, part)} of {network.ranks} ranks send to the others")


def _fuller_cut(network: Network, seconds_per_byte: float) -> frozenset[int] | None:
    """Nodes whose ranks have more to send than leaves them, if each rank gives a byte in this time; None: there are
    none."""
    graph = _graph(network)
    rate = 1 / seconds_per_byte
    for rank in range(network.ranks):
        graph.add_edge(SOURCE, rank, capacity=rate)
    for rank in range(network.ranks):
        flow, (near, _) = nx.minimum_cut(graph, SOURCE, rank)
        if flow < network.ranks * rate * CLOSE:
            return frozenset(near) - {SOURCE}
    return None


def _broadcast(network: Network, message_bytes: float) -> Bound:
    graph = _graph(network)
    cuts = {rank: nx.minimum_cut(graph, 0, rank) for rank in range(1, network.ranks)}
    rank = min(cuts, key=lambda one: cuts[one][0])
    flow, (near, _) = cuts[rank]
    return Bound(message_bytes / flow + _least_alpha_s(network, frozenset(near)), f"what reaches rank {rank}")


def _sums(network: Network, parts: tuple[frozenset[int], ...], message_bytes: float) -> Bound:
    """Of an all-reduce: to add up over p parts and tell all takes 2 (p - 1) messages from part to part."""
    leaving = sum(_leaving(network, part) for part in parts)
    turned = network.reversed()
    entering = sum(_leaving(turned, part) for part in parts)
    alpha_s = min(_least_alpha_s(network, part) for part in parts)
    transfer_s = 2 * (len(parts) - 1) * message_bytes / min(leaving, entering) + alpha_s
    return Bound(transfer_s, f"sums over {len(parts)} parts of the network")


def _exchange(network: Network, part: frozenset[int], given_bytes: float) -> Bound:
    """Of an all-to-all: each rank of a part has something for each rank outside."""
    inside = _ranks_in(network, part)
    transfer_s = inside * (network.ranks - inside) * given_bytes / _leaving(network, part)
    reason = f"what {inside} of {network.ranks} ranks send to the others"
    return Bound(transfer_s + _least_alpha_s(network, part), reason)


def _partitions(network: Network) -> Iterator[tuple[frozenset[int], ...]]:
    """Ranks one by one, and groups of ranks that only slower links join, each with the switches among them."""
    yield tuple(frozenset({rank}) for rank in range(network.ranks))
    for rate in sorted({link.bytes_per_s for link in network.links}):
        graph: nx.Graph[int] = nx.Graph()
        graph.add_nodes_from(range(network.nodes))
        graph.add_edges_from((one.source, one.destination) for one in network.links if one.bytes_per_s > rate)
        groups = tuple(frozenset(group) for group in nx.connected_components(graph) if min(group) < network.ranks)
        if 1 < len(groups) < network.ranks:
            yield groups


def _parts(network: Network) -> Iterator[frozenset[int]]:
    for partition in _partitions(network):
        yield from (part for part in partition if _leaving(network, part) > 0)


def _groups(network: Network) -> Iterator[frozenset[int]]:
    """Parts of several ranks."""
    yield from (part for part in _parts(network) if _ranks_in(network, part) > 1)


def _ranks_in(network: Network, part: frozenset[int]) -> int:
    return sum(node < network.ranks for node in part)


def _leaving(network: Network, part: frozenset[int]) -> float:
    return sum(link.bytes_per_s for link in network.links if link.source in part and link.destination not in part)


def _least_alpha_s(network: Network, part: frozenset[int]) -> float:
    """What even the last byte takes over the links that leave a part."""
    return min(link.alpha_s for link in network.links if link.source in part and link.destination not in part)


def _graph(network: Network) -> "nx.DiGraph[int | str]":
    graph: nx.DiGraph[int | str] = nx.DiGraph()
    graph.add_nodes_from(range(network.nodes))
    for link in network.links:
        before = graph.get_edge_data(link.source, link.destination, {"capacity": 0.0})["capacity"]
        graph.add_edge(link.source, link.destination, capacity=before + link.bytes_per_s)
    return graph
