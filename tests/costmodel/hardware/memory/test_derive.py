"""A device with another memory."""

import pytest

from costmodel.hardware.memory.derive import with_memory
from costmodel.hardware.memory.limits import cache_limit
from costmodel.hardware.optical_hbm import load_optical_hbm
from tests.costmodel.hardware.memory.limits_cases import A100


def test_a_device_with_optical_memory() -> None:
    memory = load_optical_hbm("optical-hbm-a100").tier()
    plain, limited = with_memory(A100, memory), with_memory(A100, memory, limits=[cache_limit(A100)], name="x")
    assert plain.capacity_bytes == limited.capacity_bytes == 576e9
    assert plain.memory_bytes_per_s == pytest.approx(12.288e12)
    assert limited.memory_bytes_per_s == pytest.approx(3.61e12)
    assert plain.memory_j_per_byte == pytest.approx(A100.memory_j_per_byte + 16e-12)
    assert (plain.name, limited.name) == ("a100-sxm+optical-hbm-a100", "x")
    assert plain.aliases == ()
    assert plain.ancestry == ("a100-sxm+optical-hbm-a100", "a100-sxm")
    assert with_memory(A100, memory, name="a100-sxm").ancestry == ("a100-sxm",)
    assert with_memory(plain, memory).ancestry == ("a100-sxm+optical-hbm-a100+optical-hbm-a100", "a100-sxm")
    assert "set by l2" in limited.sources["memory_bandwidth"]
    assert plain.flops_per_s == A100.flops_per_s
