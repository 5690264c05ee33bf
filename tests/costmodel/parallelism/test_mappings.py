"""Rows of mappings: defaults, selection, distinct combinations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.parallelism.degrees import Degrees
from costmodel.parallelism.mappings import CHOICES, DIMENSIONS, Mappings, distinct_rows, first_of_each, grouped
from tests.costmodel.parallelism.placed import DEGREE, groups


def test_scalars_fill_all_rows_and_what_is_absent_has_its_default() -> None:
    m = Mappings.of(tensor=[1, 2, 4], data=3, context=2)
    assert m.num_devices.tolist() == [6, 12, 24]
    assert m.choice(1) == {name: default for name, (_, default) in CHOICES.items()} | {
        "tensor": 2, "data": 3, "context": 2,
    }  # fmt: skip
    assert len(Mappings.of()) == len(Mappings.of(tensor=2)) == 1
    assert len(Mappings.none()) == len(Mappings.of(tensor=np.zeros(0))) == 0


def test_devices_of_large_degrees_do_not_overflow() -> None:
    m = Mappings.of(tensor=32, pipeline=128, data=4096, context=8)
    assert m.num_devices.tolist() == [2**27]


def test_unknown_columns_are_named() -> None:
    with pytest.raises(ValueError, match="unknown columns stages; known: tensor, pipeline"):
        Mappings.of(stages=2)


def test_rows_joined_and_taken() -> None:
    both = Mappings.concatenate([Mappings.of(tensor=[1, 2]), Mappings.none(), Mappings.of(data=[5, 6], zero=3)])
    assert both.tensor.tolist() == [1, 2, 1, 1]
    assert both.take(both.data > 1).choice(1) == Mappings.of(data=6, zero=3).choice(0)
    assert both.take(slice(1, 3)).data.tolist() == [1, 5]
    assert both.where(both.choice(2)).tolist() == [False, False, True, False]
    assert len(Mappings.concatenate([])) == 0


def test_choices_by_name() -> None:
    m = Mappings.of(recompute=[0, 1, 2], offload=[0, 3, 4])
    assert m.has_recompute("full").tolist() == [False, False, True]
    assert m.has_offload("weights").tolist() == [False, True, False]
    assert m.has_offload("activations").tolist() == [False, True, False]
    assert m.has_offload("optimizer").tolist() == [False, False, True]


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30000), st.integers(0, 1)), max_size=40))
def test_distinct_rows(rows: list[tuple[int, int, int]]) -> None:
    table = np.array(rows, np.int16).reshape(-1, 3)
    first, of = distinct_rows(list(table.T))
    assert len(first) == len(set(rows))
    np.testing.assert_array_equal(table[first][of], table)
    assert all(rows.index(rows[row]) == row for row in first)


@pytest.mark.parametrize(("most", "number"), [(3, 5000), (70, 5000), (30000, 5000), (30000, 3), (1, 0)])
def test_distinct_rows_by_tables_and_by_sorting(most: int, number: int) -> None:
    table = np.random.default_rng(2).integers(0, most + 1, size=(3, number), dtype=np.int32)
    first, of = distinct_rows(list(table))
    _, expected, places = np.unique(table[::-1], axis=1, return_index=True, return_inverse=True)
    np.testing.assert_array_equal(first, expected)
    np.testing.assert_array_equal(of, places.ravel())


@given(DEGREE, DEGREE, DEGREE, DEGREE, st.sampled_from([1, 2, 3]))
def test_groups_are_those_counted_rank_by_rank(t: int, p: int, n: int, c: int, e: int) -> None:
    degrees = Degrees(t, p, n * e, c, e)
    for dimension in DIMENSIONS:
        counted = sorted(groups(degrees, dimension).values())
        assert sorted(degrees.groups(dimension).tolist()) == counted


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.integers(0, 2)), max_size=30))
def test_rows_stand_together_by_their_combination_and_the_first_by_keys_is_found(rows: list[tuple[int, ...]]) -> None:
    table = np.array(rows, dtype=np.int32).reshape(-1, 4)
    of, order, starts = grouped([table[:, 0], table[:, 1]])
    runs = [run.tolist() for run in np.split(order, starts[1:])] if len(order) else []
    assert sorted(order.tolist()) == [*range(len(rows))]
    assert all(run == sorted(run) for run in runs)
    assert [{rows[row][:2] for row in run} for run in runs] == [{rows[run[0]][:2]} for run in runs]
    assert len({of[run[0]] for run in runs}) == len({row[:2] for row in rows}) == len(runs)
    best = order[first_of_each(starts, table[order, 2].astype(float), table[order, 3].astype(float))]
    assert best.tolist() == [min(run, key=lambda row: (rows[row][2:], row)) for run in runs]
