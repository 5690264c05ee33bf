"""Transfers bound by latency and by bandwidth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.hardware.memory.tier import load_memory_tier, transfer_s

HOST = load_memory_tier("host-pcie4")


def test_transfer() -> None:
    np.testing.assert_allclose(HOST.transfer_s([0, 1, 31.5e9]), [0.0, 1.5e-6 + 1 / 31.5e9, 1.0 + 1.5e-6])


def test_half_of_the_bandwidth() -> None:
    size = HOST.latency_s * HOST.bandwidth_bytes_per_s
    assert size / HOST.transfer_s(size) == pytest.approx(HOST.bandwidth_bytes_per_s / 2)


@given(size=st.floats(1, 1e15), latency=st.floats(0, 1e-3), rate=st.floats(1e6, 1e14))
def test_bounds(size: float, latency: float, rate: float) -> None:
    found = float(transfer_s(size, latency, rate))
    assert found >= latency
    assert found >= size / rate
    assert found <= 2 * max(latency, size / rate) * (1 + 1e-12)
    assert transfer_s(2 * size, latency, rate) <= 2 * found
