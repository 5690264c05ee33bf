"""Products of degrees against a plain search."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from costmodel.parallelism.degrees import degree_table, divisors, every_mapping


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
