"""Rows as columns: what repeats is written once, and nothing is lost but digits."""

from itertools import accumulate, chain, repeat

from hypothesis import given
from hypothesis import strategies as st

from planner.report.columns import packed, runs, steps


def test_columns_hold_what_repeats_once() -> None:
    rows = [{"name": f"j{i}", "kind": "training", "plan": None if i == 1 else {"step": i / 3}} for i in range(4)]
    of_many = packed([{"kind": "training", "rank": i} for i in range(100)])["columns"]
    assert of_many == {"kind": {"of": ["training"], "at": {"steps": [0, 100]}}, "rank": {"steps": [0, 1, 1, 99]}}
    columns = packed(rows)["columns"]
    assert packed(rows)["count"] == 4
    assert columns["name"] == ["j0", "j1", "j2", "j3"]
    assert columns["kind"] == {"of": ["training"], "at": [0, 0, 0, 0]}
    assert columns["plan"] == {"rows": [0, 1, 2, 2], "fields": {"step": [0.0, 0.6666667, 1.0]}}


def test_nothing_is_packed_into_nothing() -> None:
    assert packed([]) == {"count": 0, "columns": {}}
    assert packed([{"plan": None}])["columns"] == {"plan": [None]}


def test_runs_join_what_follows() -> None:
    assert runs([4, 5, 6, None, None, 9, 8]) == [4, 3, -1, 1, -1, 1, 9, 1, 8, 1]
    assert runs([]) == []


@given(st.lists(st.integers(-5, 5) | st.integers(), max_size=30))
def test_steps_lose_nothing(numbers: list[int]) -> None:
    found = steps(numbers)
    if isinstance(found, dict):
        pairs = zip(found["steps"][::2], found["steps"][1::2], strict=True)
        found = list(accumulate(chain.from_iterable(repeat(step, often) for step, often in pairs)))
    assert found == numbers
