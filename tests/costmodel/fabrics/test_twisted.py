"""Twisted tori against a lattice built by hand, shortest ways of networkx, and flows of a linear program."""

from collections.abc import Iterable
from itertools import product

import networkx as nx
import numpy as np
import pytest

from costmodel.fabrics.box_links import BoxLinks
from costmodel.fabrics.twisted import all_to_all, least_of_any_wiring, neighbour, twist_of
from tests.costmodel.fabrics.torus_cases import ALPHA, LINK, Sides, least_load

CUBE, SMALL = (4, 4, 4), (2, 2, 2)


def lattice(box: Sides, periods: Iterable[Sides]) -> "nx.Graph[Sides]":
    """Chips of a box, those a period apart being one: a period takes every point of Z^3 into the box."""
    rows, inside = list(periods), [*product(*map(range, box))]
    shifts = [np.array(n) @ np.array(rows) for n in product((-1, 0, 1), repeat=3)]
    place = {tuple((np.array(chip) + shift).tolist()): chip for chip in inside for shift in shifts}
    graph: nx.Graph[Sides] = nx.Graph()
    for x, y, z in inside:
        graph.add_edges_from(((x, y, z), place[after]) for after in ((x + 1, y, z), (x, y + 1, z), (x, y, z + 1)))
    return graph


LATTICES = [
    ((4, 2, 2), [(4, 0, 0), (-2, 2, 0), (-2, 0, 2)]),
    ((4, 4, 2), [(4, 0, 0), (0, 4, 0), (-2, -2, 2)]),
]


@pytest.mark.parametrize(("box", "periods"), LATTICES)
def test_links_are_those_of_the_lattice(box: Sides, periods: list[Sides]) -> None:
    twist = twist_of(box, SMALL)
    own = {
        frozenset((chip, neighbour(chip, axis, sign, box, twist)))
        for chip in product(*map(range, box))
        for axis in range(3)
        for sign in (1, -1)
    }
    assert own == {frozenset(edge) for edge in lattice(box, periods).edges}


@pytest.mark.slow
def test_no_flow_has_a_lighter_busiest_link() -> None:
    box, periods = LATTICES[0]
    assert all_to_all(box, SMALL).on_link == pytest.approx(least_load(lattice(box, periods)), abs=1e-7)


@pytest.mark.parametrize(("box", "gain"), [((8, 4, 4), 1.74), ((8, 8, 4), 1.39), ((16, 8, 8), 1.72)])
def test_all_links_carry_as_much_and_shortest_ways_alone(box: Sides, gain: float) -> None:
    """Hence no routing goes below it; published (TPU v4, section 2.8): 1.63 for 128 chips, 1.31 for 256."""
    side = min(box)
    periods = [(2 * side, 0, 0), (-side, side, 0), (-side, 0, side)]
    if box[1] > side:
        periods = [(2 * side, 0, 0), (0, 2 * side, 0), (-side, -side, side)]
    found, graph = all_to_all(box, CUBE), lattice(box, periods)
    lengths = nx.single_source_shortest_path_length(graph, (0, 0, 0)).values()
    assert (found.hops, found.mean_hops) == (max(lengths), pytest.approx(sum(lengths) / len(graph)))
    assert found.on_link == pytest.approx(found.least_on_link)
    links = BoxLinks(CUBE, LINK, ALPHA)
    plain, twisted = links.all_to_all(box), links.twisted_all_to_all(box)
    assert plain.seconds_per_byte / twisted.seconds_per_byte == pytest.approx(gain, abs=0.01)
    assert plain.least_seconds_per_byte == twisted.least_seconds_per_byte < twisted.seconds_per_byte


def test_no_wiring_has_fewer_hops() -> None:
    """Six links reach six ranks, then thirty: seven ranks all joined, and 37 of which 30 are two hops away."""
    assert least_of_any_wiring(7) == pytest.approx(6 / 7 / 6)
    assert least_of_any_wiring(37) == pytest.approx((6 + 60) / 37 / 6)
    assert least_of_any_wiring(1) == 0


def test_short_axes_are_lines_in_an_all_reduce() -> None:
    """Reduce-scatters of 1, 1/8 and 1/32 of the bytes: a ring of 8 at both links of a chip, two lines of 4 at one."""
    plan = BoxLinks(CUBE, LINK, ALPHA).twisted_all_reduce((8, 4, 4))
    one_way = 7 / 8 / (2 * LINK) + 3 / 4 / 8 / LINK + 3 / 4 / 32 / LINK
    assert plan.seconds_per_byte == pytest.approx(2 * one_way)
    assert plan.latency_s == pytest.approx(2 * (7 + 3 + 3) * ALPHA)


@pytest.mark.parametrize("box", [(4, 4, 4), (8, 4, 2), (12, 4, 4), (6, 3, 3), (16, 4, 4)])
def test_other_boxes_have_no_twist(box: Sides) -> None:
    assert not twist_of(box, CUBE)
