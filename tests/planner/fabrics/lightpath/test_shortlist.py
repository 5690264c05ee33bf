"""Short lists of jobs that may span racks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from planner.candidates.expand import expand
from planner.fabrics.lightpath.shortlist import THINNER, listed_shortly, thinner_and_thinner
from tests.planner.fabrics.joined_racks.racks import FIBERS, racks


def test_ways_in_one_rack_stay_beside_ways_over_several() -> None:
    problem = expand(racks(FIBERS | {"wavelengths_per_fiber": 8}, 4))
    demands = list(listed_shortly(problem).options[0].shapes)
    assert {demand.racks for demand in demands} >= {1, 2}
    assert {demand.links for demand in demands if demand.racks == 2} >= {1, 8}


ROWS = st.lists(st.tuples(st.integers(0, 2), *4 * [st.integers(0, 12)]), max_size=30)


@given(ROWS)
def test_of_each_group_rows_that_need_less_and_less_are_kept(rows: list[tuple[int, ...]]) -> None:
    """As looking at all rows one by one does, the most valuable first."""
    rows = sorted(rows, key=lambda row: row[0])
    table = np.array(rows, float).reshape(-1, 5).T
    found = thinner_and_thinner(table[1], table[2:], table[0].astype(np.int64))
    expected, least = list[int](), {row[0]: np.full(3, np.inf) for row in rows}
    for number in sorted(range(len(rows)), key=lambda number: (-rows[number][1], rows[number][2])):
        needed, before = np.array(rows[number][2:], float), least[rows[number][0]]
        if any(before[k] > 0 and needed[k] <= THINNER * before[k] for k in range(3)):
            expected.append(number)
            least[rows[number][0]] = np.minimum(before, needed)
    assert sorted(found.tolist()) == sorted(expected)
