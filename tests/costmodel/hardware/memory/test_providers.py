"""Each memory that an accelerator may have, at limits known by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from costmodel.fabrics import fat_tree_of
from costmodel.hardware.device import load_device
from costmodel.hardware.memory.choices import MemoryProvider
from costmodel.hardware.memory.providers import Appliances, ApplianceShare, Memory, OpticalModules
from costmodel.hardware.optical_hbm import load_optical_hbm
from costmodel.hardware.systems import load_system
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import widest_block
from costmodel.workloads import TransformerInference

READER: TypeAdapter[Any] = TypeAdapter(Memory)
H100 = load_device("h100-sxm")
FILES: dict[str, dict[str, Any]] = {
    "local_hbm": {"device": "h100-sxm", "stack": "hbm3-stack"},
    "memory_pool": {"shoreline": "photonic-shoreline", "unit": "memory-unit"},
    "optical_modules": {"part": "optical-hbm-a100"},
    "appliance_share": {"part": "photonic-fabric-appliance", "accelerators": 16, "ports": 1},
}

SHARED: dict[str, Any] = {"part": "photonic-fabric-appliance", "per_server": 1, "ports": 1}


def memory(kind: str, **fields: Any) -> MemoryProvider:
    found: MemoryProvider = READER.validate_python({"kind": kind} | FILES[kind] | fields)
    return found


@pytest.mark.parametrize("kind", FILES)
def test_columns_agree(kind: str) -> None:
    fields = {"ports": 8} if kind == "appliance_share" else {}
    found = memory(kind, **fields).choices()
    assert len(found) == {"local_hbm": 1, "memory_pool": 40, "optical_modules": 6, "appliance_share": 8}[kind]
    for column in (found.capacity_bytes, found.bytes_per_s, found.latency_s, found.j_per_byte):
        assert column.shape == (len(found),)
        assert (column > 0).all()
    assert (np.diff(found.memory_io) >= 0).all()
    assert len(set((found.memory_io + found.network_io).tolist())) == 1
    assert (np.diff(found.bytes_per_s) > 0).all()
    assert (np.diff(found.network_bytes_per_s) <= 0).all()


def test_local() -> None:
    found = memory("local_hbm").choices()
    assert (found.units[0], found.capacity_bytes[0], found.bytes_per_s[0]) == (5, 80 * 2**30, 3350e9)
    device = found.device(0, H100)
    same = {"name", "aliases", "sources", "like"}
    assert device.like == "h100-sxm"
    assert device.model_dump(exclude=same) == H100.model_dump(exclude=same)


def test_optical_modules() -> None:
    """12 TB/s of 1024 GB/s and 576 GB behind all six pairs; a pair for the network carries 2.048 TB/s."""
    found = memory("optical_modules").choices()
    assert found.bytes_per_s[-1] == pytest.approx(12.288e12)
    assert found.capacity_bytes.tolist() == pytest.approx([96e9 * n for n in range(1, 7)])
    assert found.network_bytes_per_s[[0, 5]].tolist() == pytest.approx([5 * 2.048e12, 0.0])
    assert found.added_latency_s[0] == pytest.approx(60e-9)


def test_share_of_an_appliance() -> None:
    """A port carries 0.9 TB/s; a module's DDR 358.4 GB/s; 32 TB are shared by 16."""
    all_hits, none = (memory("appliance_share", hit=hit).choices() for hit in (1.0, 0.0))
    assert all_hits.bytes_per_s[0] == pytest.approx(0.9e12)
    assert none.bytes_per_s[0] == pytest.approx(358.4e9)
    assert all_hits.capacity_bytes[0] == 2e12
    assert all_hits.added_latency_s[0] == pytest.approx(0.0, abs=1e-15)
    assert none.latency_s[0] == pytest.approx(330e-9 + 120e-9)
    assert none.j_per_byte[0] == pytest.approx((5 + 15 + 35) * 8e-12)
    alone = memory("appliance_share", accelerators=1, ports=16).choices()
    assert alone.bytes_per_s[-1] == pytest.approx(14.4e12)
    assert alone.capacity_bytes[-1] == 32e12
    distant = memory("appliance_share", link_latency="60 ns", link_energy="2 pJ/b").choices()
    assert distant.added_latency_s[0] == pytest.approx(60e-9)
    assert distant.j_per_byte[0] == pytest.approx(7 * 8e-12)


@pytest.mark.parametrize("switches", [0, 1, 2])
@pytest.mark.parametrize(
    ("parts", "ends", "each"), [("routes-photonic-text", 2 * 5, 25), ("routes-electrical", 2 * 65, 35)]
)
def test_energy_of_a_byte_is_that_of_its_route(parts: str, ends: float, each: float, switches: int) -> None:
    """Both ends, each switch, and the stacks of HBM at 5 pJ/b; a stated energy goes before."""
    route = {"parts": parts, "switches": switches}
    both = memory("appliance_share", route=route), Appliances(**SHARED, route=route)
    for provider in both:
        np.testing.assert_allclose(provider.choices().j_per_byte, (5 + ends + switches * each) * 8e-12)
    stated = memory("appliance_share", route=route, link_energy="2 pJ/b").choices()
    assert stated.j_per_byte[0] == pytest.approx(7 * 8e-12)


def test_a_route_with_more_switches_than_there_are() -> None:
    with pytest.raises(
        ValidationError, match="switches: 3 on route 'tray_memory' of 'routes-electrical'; it has 0 to 2"
    ):
        memory("appliance_share", route={"parts": "routes-electrical", "switches": 3})


@given(st.floats(0, 1), st.floats(0, 1), st.integers(1, 16))
def test_more_hits_are_faster_sooner_and_cheaper(one: float, other: float, ports: int) -> None:
    """And never faster than the ports; what is stated holds whatever is found."""
    less, more = sorted((one, other))
    provider = memory("appliance_share", ports=ports)
    assert isinstance(provider, ApplianceShare)
    few, many = provider.choices(less), provider.choices(more)
    assert np.all(few.bytes_per_s <= many.bytes_per_s * (1 + 1e-12))
    assert np.all(many.bytes_per_s <= many.memory_io * 0.9e12 * (1 + 1e-12))
    assert np.all(few.latency_s >= many.latency_s * (1 - 1e-12))
    assert np.all(few.j_per_byte >= many.j_per_byte * (1 - 1e-12))
    stated = provider.model_copy(update={"hit": less})
    np.testing.assert_array_equal(stated.choices(more).bytes_per_s, few.bytes_per_s)
    assert stated.choices().cache_bytes is None
    np.testing.assert_allclose(few.cache_bytes, few.capacity_bytes * 72 / 2000)


@pytest.mark.parametrize(("accelerators", "ports", "appliances"), [(128, 1, 8), (256, 1, 16), (128, 2, 16), (17, 1, 2)])
def test_tiers_of_appliances(accelerators: int, ports: int, appliances: int) -> None:
    found = memory("appliance_share", accelerators=accelerators, ports=ports)
    assert isinstance(found, ApplianceShare)
    assert found.appliances(ports) == appliances
    assert found.choices().capacity_bytes[-1] == pytest.approx(appliances * 32e12 / accelerators)


def test_more_ports_than_any_accelerator_has() -> None:
    with pytest.raises(ValidationError, match="less than or equal to 128"):
        memory("appliance_share", ports=10**8)


def test_more_ports_than_an_appliance() -> None:
    with pytest.raises(ValidationError, match="ports: 17 of one accelerator, the appliance has 16; give fewer"):
        memory("appliance_share", ports=17)


def test_the_device_of_a_choice() -> None:
    found = memory("memory_pool").choices()
    device = found.device(9, H100)
    assert (device.capacity_bytes, device.memory_bytes_per_s) == (160e9, 6e12)
    assert device.launch_s == pytest.approx(H100.launch_s + 60e-9)
    assert device.memory_j_per_byte == pytest.approx(56e-12)
    assert device.name == "h100-sxm+memory-unit x 10"
    assert device.flops_per_s == H100.flops_per_s


def test_scores_follow_the_memory() -> None:
    """Decode is faster and a larger batch fits as units are added, until compute or launches bind."""
    workload = TransformerInference(model="llama-3.1-8b", concurrency=32, input_tokens=512, output_tokens=512)
    fabric = fat_tree_of(load_system("dgx-h100"), 8)
    found = memory("memory_pool").choices()
    steps = []
    for row in (1, 4, 9, 39):
        device = found.device(row, H100)
        candidates = list_candidates(workload, workload.mappings(1), device, fabric, blocks=widest_block)
        assert len(candidates) == 1
        steps.append(float(score(candidates, device, fabric).step_s[0]))
    assert steps == sorted(steps, reverse=True)
    assert steps[0] > 2 * steps[2]


def test_shared_appliances() -> None:
    """Ports of 0.9 TB/s before modules of 2.4 TB/s and 2 TB; half read from DDR, a module gives 0.62 TB/s."""
    shared = Appliances(part="photonic-fabric-appliance", per_server=2, ports=3)
    assert (shared.modules, shared.all_ports) == (32, 32)
    found = shared.choices()
    rows = [*zip(found.memory_io.tolist(), found.units.tolist(), strict=True)]
    assert rows == [(ports, units) for ports in (1, 2, 3) for units in (1, 2, 4, 8, 16, 32)]
    by_row = dict(zip(rows, found.bytes_per_s.tolist(), strict=True))
    assert [by_row[3, 1], by_row[3, 2], by_row[1, 32]] == pytest.approx([2.4e12, 2.7e12, 0.9e12])
    assert found.capacity_bytes.tolist() == pytest.approx((found.units * 2e12).tolist())
    assert found.network_bytes_per_s.tolist() == pytest.approx(((3 - found.memory_io) * 0.9e12).tolist())
    from_ddr = shared.model_copy(update={"hit": 0.5}).choices()
    rows = [*zip(from_ddr.memory_io.tolist(), from_ddr.units.tolist(), strict=True)]
    module = 1 / (0.5 / 2.4e12 + 0.5 / 358.4e9)
    assert {ports: units for ports, units in rows if units not in (1, 2, 4, 8, 16, 32)} == {2: 3, 3: 5}
    assert from_ddr.bytes_per_s[rows.index((2, 2))] == pytest.approx(2 * module)
    assert from_ddr.bytes_per_s[rows.index((2, 3))] == pytest.approx(1.8e12)


def test_more_ports_than_the_appliances_have_are_refused() -> None:
    with pytest.raises(ValidationError, match="33 of one accelerator, the appliances of a server have 32"):
        Appliances(part="photonic-fabric-appliance", per_server=2, ports=33)


def test_the_last_cache_limits_what_a_faster_memory_gives() -> None:
    """An A100's L2 of 7.22 TB/s, which each byte passes twice, behind modules of 12 TB/s together."""
    a100 = load_device("a100-sxm")
    choices = OpticalModules(part=load_optical_hbm("optical-hbm-a100")).choices()
    rates = [choices.device(row, a100).memory_bytes_per_s for row in range(len(choices))]
    assert rates == pytest.approx([min(2e12 * (row + 1), 7.22e12 / 2) for row in range(len(choices))], rel=0.05)
    assert max(rates) == 7.22e12 / 2
