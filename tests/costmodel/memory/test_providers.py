"""Each memory that an accelerator may have, at limits known by hand."""

from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from costmodel.candidates import list_candidates
from costmodel.hardware import load_device
from costmodel.memory.choices import MemoryProvider
from costmodel.memory.providers import ApplianceShare, Memory
from costmodel.score import score
from costmodel.search import widest_block
from costmodel.systems import load_system
from costmodel.workloads import TransformerInference

READER: TypeAdapter[Any] = TypeAdapter(Memory)
H100 = load_device("h100-sxm")
FILES: dict[str, dict[str, Any]] = {
    "local_hbm": {"device": "h100-sxm", "stack": "hbm3-stack"},
    "memory_pool": {"shoreline": "photonic-shoreline", "unit": "memory-unit"},
    "optical_modules": {"part": "optical-hbm-a100"},
    "appliance_share": {"part": "photonic-fabric-appliance", "accelerators": 16, "ports": 1},
}


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
    assert (found.units[0], found.capacity_bytes[0], found.bytes_per_s[0]) == (5, 80e9, 3350e9)
    device = found.device(0, H100)
    same = {"name", "aliases", "sources"}
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
    assert none.j_per_byte[0] == pytest.approx((5 + 15) * 8e-12)
    alone = memory("appliance_share", accelerators=1, ports=16).choices()
    assert alone.bytes_per_s[-1] == pytest.approx(14.4e12)
    assert alone.capacity_bytes[-1] == 32e12
    distant = memory("appliance_share", link_latency="60 ns", link_energy="2 pJ/b").choices()
    assert distant.added_latency_s[0] == pytest.approx(60e-9)
    assert distant.j_per_byte[0] == pytest.approx(7 * 8e-12)


@pytest.mark.parametrize(("accelerators", "ports", "appliances"), [(128, 1, 8), (256, 1, 16), (128, 2, 16), (17, 1, 2)])
def test_tiers_of_appliances(accelerators: int, ports: int, appliances: int) -> None:
    found = memory("appliance_share", accelerators=accelerators, ports=ports)
    assert isinstance(found, ApplianceShare)
    assert found.appliances(ports) == appliances
    assert found.choices().capacity_bytes[-1] == pytest.approx(appliances * 32e12 / accelerators)


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
    fabric = load_system("dgx-h100").fat_tree(8)
    found = memory("memory_pool").choices()
    steps = []
    for row in (1, 4, 9, 39):
        device = found.device(row, H100)
        candidates = list_candidates(workload, workload.mappings(1), device, fabric, blocks=widest_block)
        assert len(candidates) == 1
        steps.append(float(score(candidates, device, fabric).step_s[0]))
    assert steps == sorted(steps, reverse=True)
    assert steps[0] > 2 * steps[2]
