"""The front of two measures is what no run beats in both."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from planner.report.study.front import on_front

Points = st.lists(st.tuples(*[st.one_of(st.none(), st.integers(0, 5).map(float))] * 2), max_size=8)


@pytest.mark.slow
@given(Points)
def test_the_front_is_what_nothing_dominates(points: list[tuple[float | None, float | None]]) -> None:
    marked = on_front(points)
    for i, (gain, cost) in enumerate(points):
        if gain is None or cost is None:
            assert not marked[i]
            continue
        beaten = False
        for other_gain, other_cost in points:
            if other_gain is not None and other_cost is not None:
                no_worse = other_gain >= gain and other_cost <= cost
                beaten = beaten or (no_worse and (other_gain > gain or other_cost < cost))
        assert marked[i] == (not beaten)
