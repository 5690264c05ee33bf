"""Blocks over distinct shapes against tables written out in full."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from costmodel.pricing.opgraph import Block, Message, Operator, OpGraph, Shapes


def graph_of(*blocks: Block) -> OpGraph:
    none = np.zeros(len(blocks[0].shape))
    return OpGraph(blocks, none, none, none, none, none, none, "bf16", "training")


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3), st.integers(0, 900)), max_size=30))
def test_shapes_are_the_distinct_rows(rows: list[tuple[int, int, int]]) -> None:
    table = np.array(rows, np.int16).reshape(-1, 3)
    shapes = Shapes.distinct({name: table[:, i] for i, name in enumerate("abc")})
    assert len(shapes) == len(set(rows))
    back = np.stack([shapes.columns[name][shapes.of] for name in "abc"], axis=1)
    np.testing.assert_array_equal(back, table)


@pytest.mark.slow
@given(
    shape=arrays.arrays(np.int32, 6, elements=st.integers(0, 2)),
    times=arrays.arrays(np.float64, 6, elements=st.integers(0, 9)),
    count=st.floats(0, 4),
)
def test_a_step_is_the_sum_over_blocks(shape: Any, times: Any, count: float) -> None:
    flops, moved = np.array([1.0, 10.0, 100.0]), np.array([5.0, 7.0, 11.0])
    operators = (Operator("a", "matrix", flops, 2.0, count), Operator("b", "elementwise", 0.0, moved))
    messages = (Message("m", "tensor", flops, count), Message("n", "tensor", 3.0))
    graph = graph_of(
        Block("x", operators, messages, shape, 3, times), Block("y", operators[:1], (), shape, 3, 2 * times)
    )
    expected_flops = [3 * n * count * float(flops[k]) for k, n in zip(shape, times, strict=True)]
    expected_bytes = [n * (3 * count * 2.0 + float(moved[k])) for k, n in zip(shape, times, strict=True)]
    np.testing.assert_allclose(graph.flops, expected_flops)
    np.testing.assert_allclose(graph.memory_bytes, expected_bytes)
    for m in range(6):
        rows = list(graph.operators_of(m))
        assert [(block.name, operator.name) for block, operator, *_ in rows] == [("x", "a"), ("x", "b"), ("y", "a")]
        assert np.isclose(sum(f * n for _, _, f, _, n in rows), expected_flops[m])
        assert np.isclose(sum(b * n for _, _, _, b, n in rows), expected_bytes[m])
        sent = [(size, number) for _, _, size, number in graph.messages_of(m)]
        np.testing.assert_allclose(sent, [(flops[shape[m]], count * times[m]), (3.0, times[m])])


def test_a_block_of_shapes_fills_what_is_the_same_for_all() -> None:
    shapes = Shapes.distinct({"a": np.array([3, 3, 4])})
    block = shapes.block("one", [Operator("o", "matrix", 2.0, 1.0)], [], 5.0, in_bubble=False)
    assert block.num_shapes == 2
    assert block.times.tolist() == [5.0, 5.0, 5.0]
    assert block.flops.tolist() == [2.0, 2.0]
    assert not block.in_bubble
