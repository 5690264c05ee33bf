"""Chains of free chips: linked, free, of the right length, with ends on faces; whether there is one, by a search."""

from itertools import pairwise, product

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from planner.slices.chains import free_chain
from planner.slices.torus_boxes import Sides

SIDES: Sides = (3, 3, 3)
CHIPS = list(product(range(3), range(3), range(3)))
GRAPH = nx.convert_node_labels_to_integers(nx.grid_graph((3, 3, 3), periodic=True), ordering="sorted")
FACES = [{number for number, chip in enumerate(CHIPS) if chip[axis] != 1} for axis in range(3)]


def _exists(free: int, length: int, *, closed: bool) -> bool:
    """Whether networkx finds such a chain."""
    graph = GRAPH.subgraph([number for number in range(27) if free >> number & 1])
    for face in FACES:
        ends = [number for number in graph if number in face]
        for first, last in product(ends, ends):
            if first != last and (not closed or graph.has_edge(first, last)):
                paths = nx.all_simple_paths(graph, first, last, cutoff=length - 1)
                if any(len(path) == length for path in paths):
                    return True
    return False


@given(st.sets(st.integers(0, 26), min_size=2, max_size=12), st.integers(2, 5), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_chain_is_found_where_there_is_one(numbers: set[int], length: int, closed: bool) -> None:
    free = sum(1 << number for number in numbers)
    chain = free_chain(free, SIDES, length, closed=closed)
    assert (chain is not None) == _exists(free, length, closed=closed)
    if chain is not None:
        assert len({*chain}) == length
        assert {*chain} <= numbers
        assert all(GRAPH.has_edge(one, other) for one, other in pairwise(chain))
        assert any({chain[0], chain[-1]} <= face for face in FACES)
        assert not closed or GRAPH.has_edge(chain[0], chain[-1])
