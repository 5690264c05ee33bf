"""Light between two places, counted pair by pair, and circuit by circuit."""

import numpy as np
import pytest

from planner.fabrics import circuits_between
from planner.fabrics.circuits_between import Between, busiest, busiest_pairs
from tests.planner.fabrics.demand_cases import shapes

Circuits = list[tuple[int, int, int]]


@pytest.mark.parametrize("places", [(0, 0, 1, 1, 2, 2), (2, 0, 1, 0, 1, 2)])
def test_light_between_places_is_counted_pair_by_pair(places: tuple[int, ...]) -> None:
    for shape in shapes(1, 2, 6, 2, 4):
        for between in shape.between_blocks:
            table, expected = between.table, np.zeros((3, 3), dtype=int)
            for a, b in np.argwhere(table):
                expected[places[a], places[b]] += table[a, b]
            np.fill_diagonal(expected, 0)
            assert busiest([between], np.array(places), 3).tolist() == expected.tolist()
            lit = {(a, b): light for a, b, light in busiest_pairs((between,), np.array(places, np.int32).tobytes())}
            assert lit == {(a, b): expected[a, b] for a, b in np.argwhere(expected).tolist()}
            assert between.reversed.table.tolist() == table.T.tolist()
            assert {(a, b): w for a, peers in between.leaving() for b, w in peers} == {
                (a, b): table[a, b] for a, b in np.argwhere(table)
            }


def _circuits(rng: np.random.Generator, ranks: int, number: int) -> Circuits:
    ends = rng.integers(0, ranks, (number, 2)).tolist()
    return [(source, destination, int(rng.integers(1, 5))) for source, destination in ends if source != destination]


@pytest.mark.parametrize("most_summed", [1, 100_000])
@pytest.mark.parametrize(("blocks", "block"), [(1, 4), (6, 2), (circuits_between.MAX_TABLE_BLOCKS + 1, 1)])
def test_busiest_is_the_most_of_all_configurations(
    monkeypatch: pytest.MonkeyPatch, blocks: int, block: int, most_summed: int
) -> None:
    monkeypatch.setattr(circuits_between, "MOST_SUMMED", most_summed)
    rng = np.random.default_rng(blocks)
    configurations = [_circuits(rng, blocks * block, number) for number in (0, 9, 30)]
    places = rng.integers(0, 3, (5, blocks))
    found = busiest([Between.of(tuple(each), block, blocks) for each in configurations], places, 3)
    expected = np.zeros((5, 3, 3), dtype=np.int64)
    for line, lie in enumerate(places.tolist()):
        for circuits in configurations:
            sums = np.zeros((3, 3), dtype=np.int64)
            for source, destination, width in circuits:
                a, b = lie[source // block], lie[destination // block]
                if a != b:
                    sums[a, b] += width
            expected[line] = np.maximum(expected[line], sums)
    assert found.tolist() == expected.tolist()
    assert not busiest([], places, 3).any()
