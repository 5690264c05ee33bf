"""The memory appliance, from its description to the published numbers, and its contradiction."""

import pytest

from costmodel.hardware.photonic_appliance import MemoryAppliance, load_memory_appliance

PART = load_memory_appliance("photonic-fabric-appliance")


def test_published_arithmetic() -> None:
    assert PART.hbm_bytes == 16 * 2 * 36e9 == 1152e9
    assert PART.ddr_bytes == 32e12
    assert PART.switching_bytes_per_s * 8 == pytest.approx(115.2e12)
    assert PART.port_bytes_per_s == pytest.approx(0.9e12)
    assert [PART.appliances_for(n) for n in PART.tiered_accelerators] == [8, 16]
    assert PART.appliances_for(17) == 2


def test_the_evaluation_asks_for_more_than_the_ports() -> None:
    assert PART.evaluated_bytes_per_s == 26.8e12
    assert PART.ports_for(26.8e12) == 30 > PART.ports
    assert PART.ports_for(PART.switching_bytes_per_s) == PART.ports
    assert PART.tier().bandwidth_bytes_per_s == pytest.approx(14.4e12)
    assert PART.tier(26.8e12).bandwidth_bytes_per_s == 26.8e12
    assert PART.tier().capacity_bytes == 32e12


def test_cached_memory() -> None:
    memory = PART.memory()
    assert memory.cache.bandwidth_bytes_per_s == pytest.approx(32 * 1.2e12)
    assert memory.read_bytes_per_s(1.0) == pytest.approx(PART.switching_bytes_per_s)
    assert memory.read_bytes_per_s(0.0) == pytest.approx(16 * 358.4e9)
    assert memory.write_bytes_per_s() == pytest.approx(16 * 358.4e9)


def test_two_ports_a_module() -> None:
    wider = MemoryAppliance.model_validate(PART.model_dump() | {"ports_per_module": 2})
    assert wider.switching_bytes_per_s == 2 * PART.switching_bytes_per_s
