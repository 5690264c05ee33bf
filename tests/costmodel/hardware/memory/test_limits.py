"""The bandwidth that a memory is left with, and devices that are given another memory."""

import pytest

from costmodel.hardware.memory.limits import MEMORY, BandwidthLimit, binding_limit, cache_limit, effective_bytes_per_s
from costmodel.hardware.memory.tier import load_memory_tier
from tests.costmodel.hardware.memory.limits_cases import A100, H100


def test_each_byte_passes_the_cache_twice() -> None:
    limit = cache_limit(A100)
    assert limit.allowed_bytes_per_s == pytest.approx(7.22e12 / 2)
    assert effective_bytes_per_s(A100.memory_bytes_per_s, [limit]) == 2039e9
    assert binding_limit(A100.memory_bytes_per_s, [limit]) == MEMORY
    assert effective_bytes_per_s(12e12, [limit]) == pytest.approx(3.61e12)
    assert binding_limit(12e12, [limit]) == "l2"


def test_a_limit_can_be_switched_off_or_count_one_pass() -> None:
    off = cache_limit(A100).model_copy(update={"is_on": False})
    assert effective_bytes_per_s(12e12, [off]) == 12e12
    assert binding_limit(12e12, [off]) == MEMORY
    assert effective_bytes_per_s(12e12, [cache_limit(A100, passes=1)]) == pytest.approx(7.22e12)


def test_the_least_of_several_binds() -> None:
    port = BandwidthLimit(name="port", bandwidth_bytes_per_s=1e12, source="test")
    assert effective_bytes_per_s(12e12, [cache_limit(A100), port]) == 1e12
    assert binding_limit(12e12, [cache_limit(A100), port]) == "port"


def test_unknown_cache() -> None:
    with pytest.raises(ValueError, match="l2_bandwidth: device 'h100-sxm' has none"):
        cache_limit(H100)
    assert cache_limit(H100.model_copy(update={"l2_bytes_per_s": 24e12})).allowed_bytes_per_s == 12e12


def test_tiers_of_the_catalog() -> None:
    host, stack = load_memory_tier("host-pcie5"), load_memory_tier("hbm3-stack")
    assert host.bandwidth_bytes_per_s == 55e9
    assert (stack.capacity_bytes, stack.bandwidth_bytes_per_s) == (16e9, 600e9)
    with pytest.raises(ValueError, match="unknown memory tier 'host-pci'; did you mean host-pcie"):
        load_memory_tier("host-pci")
