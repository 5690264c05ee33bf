"""Where absent tensors are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.dataflow.streams.placement import Link, Placement, by_bandwidth, evenly, kept, local

LINKS = [Link(name="left", bandwidth_bytes_per_s=50e9), Link(name="right", bandwidth_bytes_per_s=75e9)]
SIZES = [10e9, 4e9]


def test_policies() -> None:
    assert local(SIZES, LINKS).moved_bytes.tolist() == [[10e9, 0], [4e9, 0]]
    assert evenly(SIZES, LINKS).moved_bytes.tolist() == [[5e9, 5e9], [2e9, 2e9]]
    assert by_bandwidth(SIZES, LINKS).moved_bytes == pytest.approx(np.array([[4e9, 6e9], [1.6e9, 2.4e9]]))
    assert kept(SIZES, LINKS).kept_bytes.tolist() == SIZES
    for policy in (local, evenly, by_bandwidth, kept):
        policy(SIZES, LINKS).require(np.array(SIZES), 2)


def test_by_bandwidth_is_the_fastest_copy() -> None:
    best = by_bandwidth(SIZES, LINKS).copy_s(LINKS)
    assert best == pytest.approx(np.array(SIZES) / 125e9)
    assert (best < evenly(SIZES, LINKS).copy_s(LINKS)).all()
    assert (best < local(SIZES, LINKS).copy_s(LINKS)).all()


@given(
    pages=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=5),
    size=st.floats(1, 1e12),
)
def test_pages_of_a_tensor_are_equal(pages: list[tuple[int, int, int]], size: float) -> None:
    table = np.array(pages)
    sizes = np.full(len(pages), size)
    placement = Placement.from_pages(sizes, table[:, :2], table[:, 2], np.zeros(len(pages), bool))
    placement.require(sizes, 2)
    assert placement.moved_bytes * table.sum(axis=1)[:, None] == pytest.approx(size * table[:, :2])


def test_pages_of_a_remade_tensor_are_dropped() -> None:
    placement = Placement.from_pages([8.0, 8.0], [[1, 1], [0, 0]], [2, 0], [False, True])
    assert placement.moved_bytes.tolist() == [[2, 2], [0, 0]]
    assert placement.kept_bytes.tolist() == [4, 0]
    with pytest.raises(ValueError, match="pages: tensor 1 has none"):
        Placement.from_pages([8.0, 8.0], [[1, 1], [0, 0]], [2, 0], [False, False])
