"""Smallest sets of vertices that meet all cycles, against trying every set."""

from itertools import combinations

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.whatif.feedback_vertices import feedback_vertices

graphs = st.integers(2, 7).flatmap(
    lambda n: st.sets(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=24).map(
        lambda arcs: {str(v): {str(b) for a, b in arcs if a == v} for v in range(n)}
    )
)


def is_acyclic_without(waits_for: dict[str, set[str]], gone: frozenset[str]) -> bool:
    graph = nx.DiGraph((a, b) for a, others in waits_for.items() for b in others if not {a, b} & gone)
    return nx.is_directed_acyclic_graph(graph)


def smallest(waits_for: dict[str, set[str]]) -> int:
    sizes = range(len(waits_for) + 1)
    return next(
        k for k in sizes if any(is_acyclic_without(waits_for, frozenset(s)) for s in combinations(waits_for, k))
    )


@pytest.mark.slow
@settings(max_examples=300, deadline=None, derandomize=True)
@given(graphs)
def test_the_set_is_smallest(waits_for: dict[str, set[str]]) -> None:
    found = feedback_vertices(waits_for)
    assert is_acyclic_without(waits_for, found.vertices)
    assert len(found.vertices) == found.least == smallest(waits_for)


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(graphs)
def test_out_of_steps_the_gap_is_stated(waits_for: dict[str, set[str]]) -> None:
    found = feedback_vertices(waits_for, max_steps=1)
    assert is_acyclic_without(waits_for, found.vertices)
    assert found.least <= smallest(waits_for) <= len(found.vertices)
