"""The search for shifts of lines against all wirings of a small slice, and its bound against the catalog."""

from itertools import product

import networkx as nx
import numpy as np
import pytest

from costmodel.fabrics.line_shifts import LineShifts, load_line_shifts
from costmodel.fabrics.shifted import neighbours, shifted_load
from planner.synthesis.line_shifts import ShiftSearch, search_line_shifts

SMALL = ShiftSearch(seed=1, starts=4, kept=1, turns=20)


def test_the_same_seed_finds_the_same() -> None:
    one, again = (search_line_shifts((2, 2, 2), (3, 1, 1), SMALL) for _ in range(2))
    assert one == again
    assert one.on_link == shifted_load(one.shifts).on_link
    assert one.bound <= one.on_link + 1e-12


@pytest.mark.parametrize("looks", [0, 100])
def test_a_search_that_is_stopped_gives_what_it_has(looks: int) -> None:
    """Asked for so many times before it is stopped: in the first start, or some starts later."""
    told: list[tuple[int, int]] = []
    asked = iter(range(looks))
    found = search_line_shifts(
        (2, 2, 2), (3, 1, 1), SMALL, lambda *each: told.append(each), lambda: next(asked, None) is None
    )
    assert told == [(done + 1, SMALL.starts) for done in range(len(told))]
    assert 1 <= len(told) < SMALL.starts
    assert found.shifts.source.endswith(f" {len(told)} starts")
    assert found.on_link == shifted_load(found.shifts).on_link


def test_whole_faces_have_a_shift_for_each_place_and_reach_as_few_hops() -> None:
    """Each wiring whose shifts repeat is among those that do not."""
    searches = (ShiftSearch(seed=1, starts=12, kept=1, turns=1, whole=whole) for whole in (False, True))
    repeated, whole = (search_line_shifts((4, 2, 2), (2, 1, 1), search).shifts for search in searches)
    assert [(len(each), len(each[0])) for each in (repeated.y, whole.y)] == [(2, 2), (4, 2)]
    assert shifted_load(whole).mean_hops <= shifted_load(repeated).mean_hops


def test_the_catalog_can_be_found_again() -> None:
    known = load_line_shifts("line-shifts-2x2x1-2x2x2")
    assert search_line_shifts(known.sides, known.cubes, ShiftSearch()).shifts == known


@pytest.mark.parametrize("seed", [0, 1])
def test_few_starts_find_the_fewest_hops_of_all_wirings_of_two_cubes(seed: int) -> None:
    """Along two axes all patterns of lines at the four places of a face, the third as it was found."""
    found = search_line_shifts((2, 2, 2), (2, 1, 1), ShiftSearch(seed, starts=20, kept=1, turns=1)).shifts
    fewest = min(
        mean_hops(found.model_copy(update={"x": pattern(x), "y": pattern(y)}))
        for x, y in product(product((0, 1), repeat=4), repeat=2)
    )
    assert shifted_load(found).mean_hops == pytest.approx(fewest)


def pattern(places: tuple[int, ...]) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    a, b, c, d = places
    return ((a, 0, 0), (b, 0, 0)), ((c, 0, 0), (d, 0, 0))


def mean_hops(shifts: LineShifts) -> float:
    """By breadth-first search; infinite where the cubes fall apart."""
    after = neighbours(shifts)
    graph: nx.Graph[int] = nx.Graph((chip, there) for chip, row in enumerate(after.tolist()) for there in row)
    if not nx.is_connected(graph):
        return float("inf")
    lengths = [nx.single_source_shortest_path_length(graph, chip) for chip in range(8)]
    return float(np.mean([hops for each in lengths for hops in each.values()]))
