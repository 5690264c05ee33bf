"""Light between two places, counted pair by pair."""

import numpy as np
import pytest

from tests.planner.fabrics.demand_cases import shapes


@pytest.mark.parametrize("places", [(0, 0, 1, 1, 2, 2), (2, 0, 1, 0, 1, 2)])
def test_light_between_places_is_counted_pair_by_pair(places: tuple[int, ...]) -> None:
    for shape in shapes(1, 2, 6, 2, 4):
        for between in shape.between_blocks:
            table, expected = between.table, np.zeros((3, 3), dtype=int)
            for a, b in np.argwhere(table):
                expected[places[a], places[b]] += table[a, b]
            np.fill_diagonal(expected, 0)
            assert between.over(np.array(places), 3).tolist() == expected.tolist()
            assert between.reversed.table.tolist() == table.T.tolist()
            assert {(a, b): w for a, peers in between.leaving() for b, w in peers} == {
                (a, b): table[a, b] for a, b in np.argwhere(table)
            }
