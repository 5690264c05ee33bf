"""Shifted tori against ways walked one by one over switches set by hand, and a linear program over all routings."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise, product
from math import prod
from typing import Any

import networkx as nx
import numpy as np
import pytest

from costmodel.fabrics.box_links import BoxLinks
from costmodel.fabrics.line_shifts import LineShifts, load_line_shifts
from costmodel.fabrics.shifted import neighbours, shifted_load, shortest_ways
from costmodel.hardware.parts import part_names
from planner.synthesis.line_shifts import flow_bound
from tests.costmodel.fabrics.torus_cases import ALPHA, LINK, least_load

SMALL = "line-shifts-2x2x1-2x2x2"
Chip = tuple[tuple[int, ...], tuple[int, ...]]
"""cube, and place in it"""


def links(shifts: LineShifts) -> Iterator[tuple[Chip, Chip, int]]:
    """From, to and direction of each link: wires inside cubes, and what each switch joins both ways."""
    cubes = [*product(*map(range, shifts.cubes))]
    for place in product(*map(range, shifts.sides)):
        for axis, pattern in enumerate((shifts.x, shifts.y, shifts.z)):
            ahead = [*place]
            ahead[axis] = (place[axis] + 1) % shifts.sides[axis]
            across = [p for i, p in enumerate(place) if i != axis]
            offset = pattern[across[0] % len(pattern)][across[1] % len(pattern[0])]
            for cube in cubes:
                there = tuple((c + o) % n for c, o, n in zip(cube, offset, shifts.cubes, strict=True))
                ends = (cube, place), (cube if ahead[axis] else there, tuple(ahead))
                yield ends[0], ends[1], 2 * axis + 1
                yield ends[1], ends[0], 2 * axis


def busiest(shifts: LineShifts) -> float:
    """Of one byte that each chip divides among all: every shortest way of every pair, walked."""
    out: defaultdict[Chip, list[tuple[Chip, float]]] = defaultdict(list)
    graph: nx.DiGraph[Chip] = nx.DiGraph()
    b, c = shifts.sides[1:]
    for source, end, direction in links(shifts):
        x, y, z = source[1]
        out[source].append((end, shifts.weights[(x * b + y) * c + z][direction]))
        graph.add_edge(source, end)
    weight = {(source, end): each for source, ends in out.items() for end, each in ends}
    assert len(weight) == sum(map(len, out.values())), "two links join the same chips"
    load: defaultdict[tuple[Chip, Chip], float] = defaultdict(float)
    for source, end in product(graph, repeat=2):
        ways = [[*pairwise(way)] for way in nx.all_shortest_paths(graph, source, end)]
        shares = np.array([prod(weight[step] for step in way) for way in ways])
        for way, share in zip(ways, shares / shares.sum() / len(graph), strict=True):
            for step in way:
                load[step] += float(share)
    return max(load.values())


def test_links_carry_what_walks_over_the_switches_bring() -> None:
    shifts = load_line_shifts(SMALL)
    assert shifted_load(shifts).on_link == pytest.approx(busiest(shifts))


@pytest.mark.parametrize("place", [(0, 0, 0), (3, 1, 2), (3, 3, 3)])
def test_a_line_leads_to_the_same_place_of_another_cube(place: tuple[int, int, int]) -> None:
    """Which is all that a switch can join."""
    shifts = load_line_shifts("line-shifts-4x2x2-4x4x4")
    after, (a, b, c) = neighbours(shifts), shifts.sides
    slot, size = (place[0] * b + place[1]) * c + place[2], a * b * c
    expected = {(source, direction): end for source, end, direction in links(shifts) if source[1] == place}
    for (source, direction), (cube, inside) in expected.items():
        number = int(np.ravel_multi_index(source[0], shifts.cubes)) * size + slot
        there = int(np.ravel_multi_index(cube, shifts.cubes)) * size
        assert after[number, direction] == there + int(np.ravel_multi_index(inside, shifts.sides))


@pytest.mark.slow
def test_no_routing_goes_below_the_flow_bound() -> None:
    shifts = load_line_shifts(SMALL)
    graph: nx.Graph[Any] = nx.Graph((source, end) for source, end, _ in links(shifts))
    ways = shortest_ways(neighbours(shifts), prod(shifts.sides))
    bound, least = flow_bound(ways, np.array(shifts.weights)), least_load(graph)
    assert bound <= least + 1e-7
    assert shifted_load(shifts).on_link >= least - 1e-7


@pytest.mark.parametrize("name", part_names("line_shifts"))
def test_wirings_of_the_catalog_beat_plain_tori(name: str) -> None:
    shifts = load_line_shifts(name)
    a, b, c = (side * cubes for side, cubes in zip(shifts.sides, shifts.cubes, strict=True))
    ways = shortest_ways(neighbours(shifts), prod(shifts.sides))
    load = shifted_load(shifts)
    assert load.on_link >= flow_bound(ways, np.array(shifts.weights)) >= load.least_on_link - 1e-12
    plain, own = (
        plan.seconds_per_byte
        for box_links in [BoxLinks(shifts.sides, LINK, ALPHA)]
        for plan in (box_links.all_to_all((a, b, c)), box_links.shifted_all_to_all((a, b, c), shifts))
    )
    assert plain / own >= (1.6 if a * b * c >= 256 else 1.4)


def test_an_all_reduce_is_an_all_to_all_of_shares_and_one_of_sums() -> None:
    shifts, box = load_line_shifts(SMALL), (4, 4, 2)
    box_links = BoxLinks(shifts.sides, LINK, ALPHA)
    one, both = box_links.shifted_all_to_all(box, shifts), box_links.shifted_all_reduce(box, shifts)
    assert (both.latency_s, both.seconds_per_byte, both.bytes_per_byte) == (
        2 * one.latency_s, 2 * one.seconds_per_byte, 2 * one.bytes_per_byte,
    )  # fmt: skip
