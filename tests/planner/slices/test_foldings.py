"""Foldings against networkx: each maps links on links, and no box that serves is left out."""

from itertools import product
from math import prod

import networkx as nx
import pytest

from planner.slices.foldings import foldings
from planner.slices.torus_boxes import Sides

MOST_SEARCHED = 32
"""chips of boxes whose foldings are looked for by search as well"""


def box_graph(box: Sides, side: int) -> "nx.Graph[tuple[int, ...]]":
    """Chips of a box in a cube: neighbours are linked, and axes as long as the cube close."""
    graph: nx.Graph[tuple[int, ...]] = nx.Graph()
    graph.add_nodes_from(product(*map(range, box)))
    for chip in list(graph):
        for axis in range(3):
            after = (chip[axis] + 1) % box[axis]
            if after > chip[axis] or (box[axis] == side and after != chip[axis]):
                graph.add_edge(chip, (*chip[:axis], after, *chip[axis + 1 :]))
    return graph


def _boxes(side: int) -> list[Sides]:
    lengths = range(1, side + 1)
    return list(product(lengths, lengths, lengths))


@pytest.mark.parametrize("side", [2, 3, 4, 5, 6])
def test_every_link_of_the_box_asked_for_is_a_link_of_the_folding(side: int) -> None:
    for asked in _boxes(side):
        found = foldings(asked, side)
        assert found[0].extents == asked
        assert found[0].places == tuple(range(prod(asked)))
        chips, links = list(product(*map(range, asked))), box_graph(asked, side).edges
        for folding in found:
            graph, places = box_graph(folding.extents, side), list(product(*map(range, folding.extents)))
            at = {chip: places[place] for chip, place in zip(chips, folding.places, strict=True)}
            assert sorted(folding.places) == list(range(prod(asked)))
            assert all(graph.has_edge(at[one], at[other]) for one, other in links)


@pytest.mark.parametrize("side", [2, 3, 4])
def test_the_boxes_are_those_that_a_search_finds(side: int) -> None:
    for asked in _boxes(side):
        if prod(asked) > MOST_SEARCHED or asked != tuple(sorted(asked)):
            continue
        found, graph = {folding.extents for folding in foldings(asked, side)}, box_graph(asked, side)
        for box in _boxes(side):
            if prod(box) == prod(asked):
                matcher = nx.isomorphism.GraphMatcher(box_graph(box, side), graph)
                assert matcher.subgraph_is_monomorphic() == (box in found), (asked, box)


def test_a_ring_of_four_is_a_square_and_a_line_of_three_stays() -> None:
    assert {folding.extents for folding in foldings((1, 1, 4), 4)} >= {(2, 2, 1), (1, 2, 2), (4, 1, 1)}
    assert {tuple(sorted(folding.extents)) for folding in foldings((1, 1, 3), 4)} == {(1, 1, 3)}
