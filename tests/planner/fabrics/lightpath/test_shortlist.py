"""Short lists of jobs that may span racks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.candidates.expand import expand
from planner.fabrics.lightpath.shortlist import THINNER, is_least_yet, listed_shortly
from tests.planner.fabrics.joined_racks.racks import FIBERS, racks


def test_ways_in_one_rack_stay_beside_ways_over_several() -> None:
    problem = expand(racks(FIBERS | {"wavelengths_per_fiber": 8}, 4))
    demands = list(listed_shortly(problem).options[0].shapes)
    assert {demand.racks for demand in demands} >= {1, 2}
    assert {demand.links for demand in demands if demand.racks == 2} >= {1, 8}


ROWS = st.lists(st.tuples(st.integers(0, 2), *3 * [st.integers(0, 40)]), max_size=30)


@given(ROWS)
def test_no_row_that_is_clearly_thinner_than_those_kept_is_passed_over(rows: list[tuple[int, ...]]) -> None:
    """Looking at all rows one by one keeps none but those that are looked at."""
    rows = sorted(rows, key=lambda row: row[0])
    needed, groups = np.array([row[1:] for row in rows], float).reshape(-1, 3).T, np.array([row[0] for row in rows])
    looked_at, least, group = is_least_yet(needed, groups), np.zeros(3), -1
    for row, number in enumerate(groups.tolist()):
        if number != group:
            group, least = number, np.full(3, np.inf)
        if ((needed[:, row] <= THINNER * least) & (least > 0)).any():
            assert looked_at[row]
            least = np.minimum(least, needed[:, row])
