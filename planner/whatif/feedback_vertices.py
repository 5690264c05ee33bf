"""Minimum feedback vertex set of a directed graph: exact while steps last, else with a stated gap."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import networkx as nx

V = TypeVar("V", bound=Hashable)
MAX_STEPS = 20_000
"""branchings of one strong component before the greedy answer is taken"""


@dataclass(frozen=True)
class Feedback:
    """Vertices without which no cycle is left; `least` is proven to be needed."""

    vertices: frozenset[str]
    least: int


def feedback_vertices(waits_for: Mapping[str, Iterable[str]], max_steps: int = MAX_STEPS) -> Feedback:
    """A smallest set of vertices that meets all cycles; among equals the search order decides.

    Each strong component is deepened: k disjoint cycles need k vertices, and some vertex of a shortest cycle is in
    every answer. Past `max_steps` branchings a greedy set is returned with the largest k that is proven.
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(sorted(waits_for))
    graph.add_edges_from((a, b) for a in sorted(waits_for) for b in sorted(waits_for[a]))
    chosen: set[str] = set()
    least = 0
    for component in sorted(nx.strongly_connected_components(graph), key=min):
        found = _of_component(graph.subgraph(component).copy(), max_steps)
        chosen |= found.vertices
        least += found.least
    return Feedback(frozenset(chosen), least)


def _of_component(graph: "nx.DiGraph[str]", max_steps: int) -> Feedback:
    least, search = _disjoint_cycles(graph), _Search(max_steps)
    while True:
        found = search.within(graph, least)
        if found is not None:
            return Feedback(frozenset(found), least)
        if search.is_exhausted:
            return Feedback(frozenset(_greedy(graph)), least)
        least += 1


@dataclass
class _Search:
    steps: int

    @property
    def is_exhausted(self) -> bool:
        return self.steps <= 0

    def within(self, graph: "nx.DiGraph[str]", budget: int) -> set[str] | None:
        """At most `budget` vertices that meet all cycles; None where there are none, or steps ran out."""
        graph = _core(graph)
        cycle = _shortest_cycle(graph)
        if cycle is None:
            return set()
        if self.is_exhausted or budget == 0 or _disjoint_cycles(graph) > budget:
            return None
        for vertex in sorted(cycle, key=lambda v: (-graph.in_degree(v) * graph.out_degree(v), v)):
            self.steps -= 1
            found = self.within(_without(graph, vertex), budget - 1)
            if found is not None:
                return {vertex, *found}
        return None


def _without(graph: "nx.DiGraph[str]", vertex: str) -> "nx.DiGraph[str]":
    smaller = graph.copy()
    smaller.remove_node(vertex)
    return smaller


def _core(graph: "nx.DiGraph[str]") -> "nx.DiGraph[str]":
    """Subgraph without vertices that nobody waits for, or that wait for nobody, over and over."""
    core = graph.copy()
    while loose := [v for v in core if core.in_degree(v) == 0 or core.out_degree(v) == 0]:
        core.remove_nodes_from(loose)
    return core


def _shortest_cycle(graph: "nx.DiGraph[str]") -> list[str] | None:
    best: list[str] | None = None
    for a, b in graph.edges:
        if best is not None and len(best) <= 2:
            break
        if a == b:
            return [a]
        if nx.has_path(graph, b, a):
            path = nx.shortest_path(graph, b, a)
            best = path if best is None or len(path) < len(best) else best
    return best


def _disjoint_cycles(graph: "nx.DiGraph[str]") -> int:
    """Cycles without a common vertex, taken one after the other: as many vertices are needed."""
    left, count = _core(graph), 0
    while (cycle := _shortest_cycle(left)) is not None:
        count += 1
        left.remove_nodes_from(cycle)
        left = _core(left)
    return count


def _greedy(graph: "nx.DiGraph[str]") -> set[str]:
    """Vertices on the most paths first."""
    chosen: set[str] = set()
    left = _core(graph)
    while left:
        vertex = max(sorted(left), key=lambda v: left.in_degree(v) * left.out_degree(v))
        chosen.add(vertex)
        left = _core(_without(left, vertex))
    return chosen
