"""Units of a second tier add up, and are no faster than the memory before them takes in."""

import pytest

from costmodel.hardware.memory.behind import TierBehind
from costmodel.hardware.memory.providers import Appliances, OpticalModules


def test_units_add_up_to_what_is_taken() -> None:
    behind = TierBehind(unit="cxl-ddr5", units=4)
    three, many = behind.tier(3, 1e12), behind.tier(64, 1e12)
    assert (three.capacity_bytes, three.bandwidth_bytes_per_s) == pytest.approx((3 * 512e9, 3 * 63e9))
    assert (many.capacity_bytes, many.bandwidth_bytes_per_s) == pytest.approx((64 * 512e9, 1e12))
    assert (three.latency_s, three.energy_j_per_byte) == pytest.approx((300e-9, 200e-12))


def test_behind_each_module_and_behind_each_appliance() -> None:
    """Stacks of a module carry 6 x 0.407875 TB/s; the DDR of a module of an appliance takes in 358.4 GB/s."""
    behind = {"unit": "cxl-ddr5", "units": 64}
    modules = OpticalModules(part="optical-hbm-a100", second_tier=behind)
    tier = modules.tier_behind(2)
    assert tier is not None
    assert tier.bandwidth_bytes_per_s == pytest.approx(2 * modules.part.stacks_bytes_per_s)
    assert tier.capacity_bytes == pytest.approx(128 * 512e9)
    shared = Appliances(part="photonic-fabric-appliance", per_server=2, ports=4, second_tier=behind)
    found = shared.tiers_behind(1)
    assert shared.tier_units == 128
    assert [*found] == [1, 2, 4, 8, 16, 32, 64, 128]
    assert [found[units].bandwidth_bytes_per_s for units in (4, 8)] == pytest.approx([4 * 63e9, 358.4e9])
    plain = shared.model_copy(update={"second_tier": None})
    assert (plain.tier_units, plain.tiers_behind(1)) == (0, {})
