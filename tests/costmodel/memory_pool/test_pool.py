"""Shorelines, trays and pools: counts by hand, exact fractions, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.costmodel.memory_pool.pool_cases import made_shoreline, pool

UNIT_RATE = 600 * 10**9


def test_splits_of_the_published_pool() -> None:
    own, normalized = pool().choices(), pool(4e12, spread=True).choices()
    assert len(own) == 40
    assert own.memory_io[[0, 2, 3, 8, 9, 39]].tolist() == [1, 1, 2, 3, 3, 12]
    assert own.network_io[-1] == 0
    assert own.bytes_per_s[-1] == 24e12
    assert own.capacity_bytes[-1] == 640e9
    assert normalized.memory_io.tolist() == [2, 4, 6, 8, 9, 11]
    assert normalized.bytes_per_s[-1] / 3000e9 == pytest.approx(1.2, rel=1e-12)
    np.testing.assert_array_equal(own.memory_io + own.network_io, 12)


def test_io_kept_for_the_network() -> None:
    assert pool(network_io=2).most_units == 33
    assert (pool(network_io=2).choices().network_io >= 2).all()
    with pytest.raises(ValidationError, match=r"network_io: of 12 I/Os, 12 kept for the network .* keep at most 11"):
        pool(network_io=12)
    with pytest.raises(ValueError, match=r"units: \[41\]; the I/Os carry 1 to 40"):
        pool().choices([41])


@given(total=st.integers(1, 400), num_io=st.integers(1, 64), rate=st.integers(1, 10**6))
def test_equations_against_exact_fractions(total: int, num_io: int, rate: int) -> None:
    """Where I/Os carry total x 100 GB/s; quotients that are whole stay whole."""
    shoreline = made_shoreline(perimeter_mm=8.0 * num_io).with_bandwidth(total * 1e11)
    each = Fraction(total * 10**11, num_io)
    most = total * 10**11 // UNIT_RATE
    if most < 1:
        with pytest.raises(ValidationError):
            pool(spread=True, shoreline=shoreline)
        return
    found = pool(spread=True, shoreline=shoreline)
    assert found.most_units == most
    units = found.units_for(rate * 1e8)
    assert units == min(max(-(-rate * 10**8 // UNIT_RATE), 1), most)
    choices = found.choices()
    assert choices.memory_io.tolist() == [math.ceil(n * UNIT_RATE / each) for n in range(1, most + 1)]
    assert (choices.bytes_per_s <= choices.memory_io * float(each) * (1 + 1e-9)).all()
