"""Products of degrees against a plain search."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.parallelism.degrees import Degrees, degree_table, divisors, every_mapping
from costmodel.parallelism.mappings import DIMENSIONS
from tests.costmodel.parallelism.placed import DEGREE, groups


@given(st.integers(1, 5000))
def test_divisors(number: int) -> None:
    assert divisors(number) == [d for d in range(1, number + 1) if number % d == 0]


@given(
    num_devices=st.integers(1, 48),
    tensor=st.sets(st.integers(1, 8)),
    context=st.sets(st.sampled_from([1, 2, 3, 4])),
    max_pipeline=st.integers(1, 20),
)
def test_degrees_multiply_to_the_devices(
    num_devices: int, tensor: set[int], context: set[int], max_pipeline: int
) -> None:
    table = degree_table(num_devices, sorted(tensor), sorted(context), max_pipeline)
    found = [*zip(*(table[name].tolist() for name in ("tensor", "context", "pipeline", "data")), strict=True)]
    assert len(set(found)) == len(found)
    assert set(found) == {
        (t, c, p, d)
        for t, c, p, d in product(tensor, context, range(1, max_pipeline + 1), range(1, num_devices + 1))
        if t * c * p * d == num_devices
    }


def test_each_row_under_each_combination() -> None:
    degrees = degree_table(4, (1, 2), (1,), 2)
    m = every_mapping(degrees, {"micro_batch": (1, 2), "zero": (0, 1, 3)})
    rows = [*zip(m.tensor, m.pipeline, m.data, m.micro_batch, m.zero, strict=True)]
    assert {*rows} == {
        (t, p, d, b, z) for t, p, d in ((1, 1, 4), (1, 2, 2), (2, 1, 2), (2, 2, 1)) for b in (1, 2) for z in (0, 1, 3)
    }
    assert len(rows) == 24
    assert len(every_mapping(degree_table(3, (2,), (1,), 1), {"zero": (0, 1)})) == 0
    assert len(every_mapping(degrees, {"zero": ()})) == 0


def test_experts_of_blocks_that_cut_a_replica_are_apart() -> None:
    degrees = Degrees(tensor=1, pipeline=3, data=8, context=1, expert=2)
    assert degrees.ranks_together("expert", 6) == 2
    assert degrees.ranks_together("expert", 8) == 1


@pytest.mark.slow
@given(DEGREE, DEGREE, DEGREE, DEGREE, st.sampled_from([1, 2]), st.data())
def test_never_more_than_share_a_block(t: int, p: int, n: int, c: int, e: int, data: st.DataObject) -> None:
    degrees = Degrees(t, p, n * e, c, e)
    total = degrees.num_devices
    blocks = [b for b in range(1, total + 1) if total % b == 0 and (b % (t * c) == 0 or b == t)]
    block = data.draw(st.sampled_from(blocks))
    for dimension in DIMENSIONS:
        fewest = min(
            max(sum(r // block == rank // block for r in ranks) for rank in ranks)
            for ranks in groups(degrees, dimension).values()
        )
        together = degrees.ranks_together(dimension, block)
        assert 1 <= together <= degrees.ranks(dimension)
        assert together <= fewest
