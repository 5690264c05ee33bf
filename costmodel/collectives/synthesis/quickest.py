"""The least time in which bytes go from some ranks to others, when nothing else is sent.

From any schedule pick for each byte that must go one way that it or a sum with it took: together these are a flow over
time, since no link is held by two chunks at once. The most that a flow over time brings in T seconds is the most of
(T x rate - what is on the way) over all steady flows (Ford and Fulkerson, 1958), and a steady flow made of shortest
ways, one after the other, has that most for every T.
"""

from collections import deque
from collections.abc import Iterator, Sequence, Set
from functools import lru_cache

from costmodel.collectives.synthesis.network import Network

TICK_S = 1e-15
"""latencies are cut to whole ticks, so that sums and differences of them are exact"""
NOTHING = 1e-12
"""a rate this share of the fastest link's is none"""
START, END = -1, -2
"""nodes before all sources, and after all sinks"""
Arc = tuple[int, int, float, int]
"""from, to, bytes a second, ticks"""


def quickest_s(network: Network, sources: Set[int], sinks: Set[int], size_bytes: float, enough_s: float = 0.0) -> float:
    """Least seconds until `size_bytes` are at the sinks; infinite where no way leads there. A time that may be too long
    where it is found to be `enough_s` or less."""
    ends = [(START, rank, float("inf"), 0) for rank in sources] + [(rank, END, float("inf"), 0) for rank in sinks]
    rest = _Residual([*arcs_of(network), *ends])
    rate, on_the_way_bytes, found_s = 0.0, 0.0, float("inf")
    for added, latency_s in rest.shortest_ways():
        if latency_s >= found_s or found_s <= enough_s:
            break
        rate, on_the_way_bytes = rate + added, on_the_way_bytes + added * latency_s
        found_s = (size_bytes + on_the_way_bytes) / rate
    return found_s


@lru_cache(maxsize=64)
def arcs_of(network: Network) -> tuple[Arc, ...]:
    """Links with their latencies, so that no chunk takes longer over its route than a byte over its arcs.

    A chunk holds all links of a route at once and has its latency after them: the last link has that of the quickest
    route to its end, the others none. Links of switches that no rank reaches carry nothing, and are left out.
    """
    before_s = _over_switches_s(network)
    return tuple(
        (link.source, link.destination, link.bytes_per_s, int((before_s[link.source] + link.alpha_s) / TICK_S))
        if link.destination < network.ranks
        else (link.source, link.destination, link.bytes_per_s, 0)
        for link in network.links
        if before_s[link.source] < float("inf")
    )


def _over_switches_s(network: Network) -> list[float]:
    """Least latency from any rank to each node over switches alone; none to ranks."""
    found = [0.0] * network.ranks + [float("inf")] * network.switches
    for _ in range(network.switches):
        for link in network.links:
            if link.destination >= network.ranks:
                found[link.destination] = min(found[link.destination], found[link.source] + link.alpha_s)
    return found


class _Residual:
    """Rates that are left on arcs, and what may be taken back from them."""

    def __init__(self, arcs: Sequence[Arc]) -> None:
        self.arcs = [each for a, b, rate, ticks in arcs for each in ((a, b, ticks), (b, a, -ticks))]
        """each arc, and after it the way back"""
        self.left = [each for _, _, rate, _ in arcs for each in (rate, 0.0)]
        self.least = NOTHING * max((rate for _, _, rate, _ in arcs if rate < float("inf")), default=0.0)
        self.leaving: dict[int, list[int]] = {}
        for number, (source, _, _) in enumerate(self.arcs):
            self.leaving.setdefault(source, []).append(number)

    def shortest_ways(self) -> Iterator[tuple[float, float]]:
        """Rate and latency of ways that are added to the flow, the shortest first, until none is left."""
        while way := self._shortest():
            added = min(self.left[number] for number in way)
            for number in way:
                self.left[number] -= added
                self.left[number ^ 1] += added
            yield added, sum(self.arcs[number][2] for number in way) * TICK_S

    def _shortest(self) -> list[int]:
        """Arcs of a shortest way from start to end, empty where there is none."""
        ticks: dict[int, float] = {START: 0}
        last, waiting, is_waiting = {START: -1}, deque([START]), {START}
        while waiting:
            node = waiting.popleft()
            is_waiting.discard(node)
            for number in self.leaving.get(node, ()):
                _, after, longer = self.arcs[number]
                if self.left[number] > self.least and ticks[node] + longer < ticks.get(after, float("inf")):
                    ticks[after], last[after] = ticks[node] + longer, number
                    if after not in is_waiting:
                        waiting.append(after)
                        is_waiting.add(after)
        way, node = [], END
        while node != START and node in last:
            way.append(last[node])
            node = self.arcs[last[node]][0]
        return way
