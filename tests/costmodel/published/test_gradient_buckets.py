"""Buckets of gradients and the queue of their all-reduces, against a simulation bucket by bucket."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.published.gradient_buckets import buckets_of, finish_s


def queue_s(ready: list[float], transfers: list[float]) -> float:
    """End of the last transfer: each waits for its data and for the one before it."""
    now = 0.0
    for at, takes in zip(ready, transfers, strict=True):
        now = max(now, at) + takes
    return now


def filled(total: float, size: float) -> list[float]:
    """Buckets filled one after the other."""
    sizes = []
    while total > 0:
        sizes.append(min(size, total))
        total -= sizes[-1]
    return sizes


@settings(max_examples=60, deadline=None)
@given(total=st.integers(1, 10_000), sizes=st.lists(st.integers(200, 20_000), min_size=1, max_size=5))
def test_buckets_are_filled_in_order(total: int, sizes: list[int]) -> None:
    found = buckets_of(float(total), np.array(sizes, np.float64))
    for row, size in zip(found, sizes, strict=True):
        expected = filled(float(total), float(size))
        assert row.tolist() == expected + [0.0] * (found.shape[1] - len(expected))


@settings(max_examples=100, deadline=None)
@given(steps=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=12))
def test_transfers_wait_for_data_and_for_each_other(steps: list[tuple[float, float]]) -> None:
    gaps, transfers = (list(column) for column in zip(*steps, strict=True))
    ready = np.cumsum(gaps)
    expected = queue_s(ready.tolist(), transfers)
    assert finish_s(ready[None], np.array([transfers]))[0] == pytest.approx(expected, rel=1e-12)


def test_limits() -> None:
    ready, transfers = np.array([[1.0, 2.0, 3.0]]), np.array([[0.5, 0.5, 0.5]])
    assert finish_s(ready, transfers) == pytest.approx([3.5])
    assert finish_s(ready, 10 * transfers) == pytest.approx([16.0])
    assert finish_s(0 * ready, transfers) == pytest.approx([1.5])
    assert finish_s(ready, 0 * transfers) == pytest.approx([3.0])


def test_an_empty_bucket_is_refused() -> None:
    with pytest.raises(ValueError, match="bucket_bytes: a bucket holds more than 0 bytes"):
        buckets_of(1e6, np.array([1e5, 0.0]))
