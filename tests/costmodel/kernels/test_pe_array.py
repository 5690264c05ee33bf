"""Kernels on an array of processing elements, against plain arithmetic."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.kernels.pe_array import load_pe_array
from tests.oracles.mcdla import product_ns

SIZE, BYTES = st.integers(1, 100_000), st.integers(0, 10**10)


@pytest.mark.slow
@given(rows=st.lists(st.tuples(SIZE, SIZE, SIZE, st.integers(1, 64), BYTES, BYTES, BYTES), min_size=1, max_size=6))
def test_products(rows: list[tuple[int, int, int, int, int, int, int]]) -> None:
    table = np.array(rows, float).T
    found_s = load_pe_array("mc-dla-device").product_s(table[:3], table[4:], table[3])
    assert found_s * 1e9 == pytest.approx([product_ns(*row) for row in rows], rel=1e-12)


def test_the_tile_fills_half_of_the_sram() -> None:
    assert load_pe_array("mc-dla-device").tile == 2048


def test_elementwise() -> None:
    found_s = load_pe_array("mc-dla-device").elementwise_s([0.0, 900e9])
    assert found_s == pytest.approx([0.0, 1 + 1e-7], rel=1e-15)


def test_an_unknown_array() -> None:
    with pytest.raises(ValueError, match="unknown pe array 'mc-dla'; did you mean mc-dla-device"):
        load_pe_array("mc-dla")
