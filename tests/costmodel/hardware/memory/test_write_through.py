"""Two tiers of memory against the formulas written out for scalars."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.hardware.memory.tier import MemoryTier
from costmodel.hardware.memory.write_through import WriteThrough

SHARES = st.floats(0.0, 1.0)


def tier(capacity: float, bandwidth: float, latency: float, energy: float) -> MemoryTier:
    return MemoryTier(
        name="m", capacity_bytes=capacity, bandwidth_bytes_per_s=bandwidth, latency_s=latency,
        energy_j_per_byte=energy, source="test",
    )  # fmt: skip


HBM, DDR = tier(1e12, 38e12, 300e-9, 40e-12), tier(32e12, 5e12, 120e-9, 120e-12)
MEMORY = WriteThrough(cache=HBM, backing=DDR, ports_bytes_per_s=14.4e12)


@given(hit=SHARES)
def test_reads(hit: float) -> None:
    of_hits, of_misses = hit / 38e12, (1 - hit) / 5e12
    assert MEMORY.read_bytes_per_s(hit) == pytest.approx(min(14.4e12, 1 / (of_hits + of_misses)))
    assert MEMORY.read_latency_s(hit) == pytest.approx(hit * 300e-9 + (1 - hit) * 420e-9)
    assert MEMORY.read_j_per_byte(hit) == pytest.approx(40e-12 + (1 - hit) * 120e-12)


def test_ends() -> None:
    np.testing.assert_allclose(MEMORY.read_bytes_per_s([0.0, 1.0]), [5e12, 14.4e12])
    assert MEMORY.write_bytes_per_s() == 5e12
    assert WriteThrough(HBM, DDR, 1e12).write_bytes_per_s() == 1e12


@given(low=SHARES, high=SHARES, written=SHARES)
def test_hits_help_and_writes_never_do_better_than_the_backing(low: float, high: float, written: float) -> None:
    low, high = sorted((low, high))
    slow, fast = MEMORY.mixed_bytes_per_s([low, high], written)
    assert slow <= fast * (1 + 1e-12)
    assert MEMORY.mixed_bytes_per_s(high, 1.0) == pytest.approx(5e12)
    assert slow >= 5e12 * (1 - 1e-12)


@pytest.mark.parametrize("hit", [-0.1, 1.1, [0.5, 2.0]])
def test_bad_share(hit: object) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        MEMORY.read_bytes_per_s(hit)  # type: ignore[arg-type]
