"""Embedding pooling against one lookup reckoned by hand, and its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.published.dlrm_pooling import Exchange, GatherMemory, Lookups, devices_for, pooling_s

MEMORY = GatherMemory(memory_bytes_per_s=3350e9, efficiency=0.65, launch_s=12e-6)
NVLINK = Exchange(step_s=2.5e-6, bandwidth_bytes_per_s=300e9)
WHOLE = st.integers(1, 4096)


def lookups(tables: float, batch: float, pooling: float) -> Lookups:
    columns = (np.array([float(value)]) for value in (tables, batch, pooling))
    return Lookups(*columns, row_bytes=128.0)


def by_hand(tables: int, batch: int, pooling: int, devices: int) -> float:
    """Seconds of one batch of lookups in rows of 128 bytes, written out."""
    gather = tables * batch * pooling / devices * 128 / (0.65 * 3350e9)
    steps = (devices - 1) * 2.5e-6
    exchange = (devices - 1) * tables * batch * 128 / devices / 300e9
    return 12e-6 + gather + steps + exchange


@given(WHOLE, WHOLE, WHOLE, st.sampled_from([1, 2, 8, 128]))
def test_one_batch(tables: int, batch: int, pooling: int, devices: int) -> None:
    found = pooling_s(lookups(tables, batch, pooling), MEMORY, NVLINK, devices)
    assert found == pytest.approx([by_hand(tables, batch, pooling, devices)])


@given(WHOLE, WHOLE, WHOLE)
def test_more_work_takes_longer_and_no_work_takes_the_launch(tables: int, batch: int, pooling: int) -> None:
    less = pooling_s(lookups(tables, batch, pooling), MEMORY, NVLINK, 8)
    for more in ((tables + 1, batch, pooling), (tables, batch + 1, pooling), (tables, batch, pooling + 1)):
        assert pooling_s(lookups(*more), MEMORY, NVLINK, 8) > less
    assert pooling_s(lookups(tables, 0, pooling), MEMORY) == pytest.approx([12e-6])


def test_an_index_is_read_with_each_row() -> None:
    with_index = MEMORY.model_copy(update={"index_bytes": 8.0, "launch_s": 0.0})
    without = MEMORY.model_copy(update={"launch_s": 0.0})
    ratio = pooling_s(lookups(4, 128, 32), with_index) / pooling_s(lookups(4, 128, 32), without)
    assert ratio == pytest.approx([136 / 128])


@pytest.mark.parametrize(("table_bytes", "devices"), [(10e12, 128), (80e9, 1), (81e9, 2), (1.0, 1), (1e13 + 1e12, 256)])
def test_devices_are_a_power_of_two_that_holds_the_tables(table_bytes: float, devices: int) -> None:
    assert devices_for(table_bytes, 80e9) == devices


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="devices: 8 need an exchange"):
        pooling_s(lookups(1, 1, 1), MEMORY, None, 8)
    with pytest.raises(ValueError, match="devices: 0 need to be one or more"):
        pooling_s(lookups(1, 1, 1), MEMORY, NVLINK, 0)
    with pytest.raises(ValueError, match="must be positive"):
        devices_for(0.0, 80e9)
