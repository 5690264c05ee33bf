"""Products of degrees against a plain search."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.parallelism.degrees import (
    RANK_ORDERS,
    Degrees,
    RankOrder,
    confined,
    degree_table,
    divisors,
    every_mapping,
)
from costmodel.parallelism.mappings import DIMENSIONS, Mappings
from tests.costmodel.parallelism.placed import DEGREE, groups, indices_of


@given(st.integers(1, 5000))
def test_divisors(number: int) -> None:
    assert divisors(number) == [d for d in range(1, number + 1) if number % d == 0]


@given(
    sizes=st.lists(st.integers(1, 48), unique=True, max_size=3),
    tensor=st.sets(st.integers(1, 8)),
    context=st.sets(st.sampled_from([1, 2, 3, 4])),
    max_pipeline=st.integers(1, 20),
)
def test_degrees_multiply_to_the_devices(
    sizes: list[int], tensor: set[int], context: set[int], max_pipeline: int
) -> None:
    table = degree_table(sizes, sorted(tensor), sorted(context), max_pipeline)
    found = [*zip(*(table[name].tolist() for name in ("tensor", "context", "pipeline", "data")), strict=True)]
    assert found == [
        (t, c, p, d)
        for size in sizes
        for t, c, p, d in product(sorted(tensor), sorted(context), range(1, max_pipeline + 1), range(1, size + 1))
        if t * c * p * d == size
    ]


def test_each_row_under_each_combination() -> None:
    degrees = degree_table([4], (1, 2), (1,), 2)
    m = every_mapping(degrees, {"micro_batch": (1, 2), "zero": (0, 1, 3)})
    rows = [*zip(m.tensor, m.pipeline, m.data, m.micro_batch, m.zero, strict=True)]
    assert {*rows} == {
        (t, p, d, b, z) for t, p, d in ((1, 1, 4), (1, 2, 2), (2, 1, 2), (2, 2, 1)) for b in (1, 2) for z in (0, 1, 3)
    }
    assert len(rows) == 24
    assert len(every_mapping(degree_table([3], (2,), (1,), 1), {"zero": (0, 1)})) == 0
    assert len(every_mapping(degrees, {"zero": ()})) == 0


def test_experts_of_blocks_that_cut_a_replica_are_apart() -> None:
    degrees = Degrees(tensor=1, pipeline=3, data=8, context=1, expert=2)
    assert degrees.ranks_together("expert", 6) == 2
    assert degrees.ranks_together("expert", 8) == 1


def test_experts_stay_in_the_server_where_the_order_says_so() -> None:
    """Eight experts of a job with a pipeline, in servers of eight."""
    usual = Degrees(tensor=1, pipeline=4, data=16, context=1, expert=8)
    assert usual.together(8) == (1, 4, 2, 1, 2)
    assert replace(usual, order="tp-cp-ep-pp-dp").together(8) == (1, 1, 8, 1, 8)
    assert replace(usual, order="tp-cp-dp-pp").together(8) == (1, 1, 8, 1, 8)


@pytest.mark.slow
@given(DEGREE, DEGREE, DEGREE, DEGREE, st.sampled_from([1, 2, 3]), st.sampled_from(RANK_ORDERS), st.data())
def test_never_more_than_share_a_block(
    t: int, p: int, n: int, c: int, e: int, order: RankOrder, data: st.DataObject
) -> None:
    degrees = Degrees(t, p, n * e, c, e, order)
    total = degrees.num_devices
    blocks = [b for b in range(1, total + 1) if total % b == 0 and (b % (t * c) == 0 or b == t)]
    block = data.draw(st.sampled_from(blocks))
    columns = {"tensor": t, "pipeline": p, "data": n * e, "context": c, "expert": e}
    place = np.array([RANK_ORDERS.index(order)])
    inside = confined(Mappings.of(**columns), np.array([0]), np.array([block]), place)[:, 0]
    for dimension, is_inside in zip(DIMENSIONS, inside, strict=True):
        each = [
            [sum(r // block == rank // block for r in ranks) for rank in ranks]
            for ranks in groups(degrees, dimension).values()
        ]
        together = degrees.ranks_together(dimension, block)
        assert 1 <= together <= degrees.ranks(dimension)
        assert together <= min(min(counts) for counts in each)
        assert not is_inside or min(map(min, each)) == degrees.ranks(dimension)
        if degrees.ranks(dimension) > 1:
            assert is_inside == (together == degrees.ranks(dimension))


@given(DEGREE, DEGREE, DEGREE, DEGREE, st.sampled_from([1, 2, 3]), st.sampled_from(RANK_ORDERS))
def test_groups_are_those_counted_rank_by_rank(t: int, p: int, n: int, c: int, e: int, order: RankOrder) -> None:
    degrees = Degrees(t, p, n * e, c, e, order)
    for dimension in DIMENSIONS:
        counted = sorted(groups(degrees, dimension).values())
        assert sorted(degrees.groups(dimension).tolist()) == counted
    index = {"tensor": "tp", "context": "cp", "pipeline": "pp", "expert": "ep", "rest": "dp"}
    for name, values in degrees.indices().items():
        assert values.tolist() == [indices_of(degrees, rank)[index[name]] for rank in range(degrees.num_devices)]


@given(DEGREE, DEGREE, DEGREE, DEGREE, st.sampled_from([1, 2, 3]))
def test_orders_that_are_left_out_put_no_group_elsewhere(t: int, p: int, n: int, c: int, e: int) -> None:
    """What is left out has, for each block, groups that share it as those of an order that stays do."""
    usual = Degrees(t, p, n * e, c, e)
    kept = [replace(usual, order=order) for order in usual.distinct_orders]
    for order in RANK_ORDERS:
        other = replace(usual, order=order)
        for block in (b for b in range(1, usual.num_devices + 1) if usual.num_devices % b == 0):
            assert other.together(block) in [each.together(block) for each in kept]


@given(DEGREE, DEGREE, DEGREE, DEGREE, st.sampled_from([1, 2, 3]), st.sampled_from(RANK_ORDERS))
def test_the_first_order_like_another_puts_ranks_where_it_does(
    t: int, p: int, n: int, c: int, e: int, order: RankOrder
) -> None:
    degrees = Degrees(t, p, n * e, c, e, order)
    like = replace(degrees, order=degrees.first_order_like(order))
    assert RANK_ORDERS.index(like.order) <= RANK_ORDERS.index(order) or (order, e) == ("tp-cp-ep-pp-dp", n * e)
    for dimension in DIMENSIONS:
        assert sorted(degrees.groups(dimension).tolist()) == sorted(like.groups(dimension).tolist())
