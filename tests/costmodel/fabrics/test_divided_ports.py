"""Ports divided between memory and network: a job without free ports runs as on a fat tree, each free one adds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from costmodel.fabrics import DividedPorts, Fabric, FatTree
from costmodel.hardware.device import load_device
from costmodel.hardware.memory.providers import Appliances
from costmodel.hardware.photonic_appliance import load_memory_appliance
from costmodel.pricing.candidates import enumerate_candidates, list_candidates
from costmodel.pricing.layouts import ListedBlocks
from costmodel.pricing.score import score
from costmodel.workloads import Dlrm, TransformerInference, TransformerTraining, Workload
from tests.costmodel.pricing.score_cases import FAT_TREE

H100 = load_device("h100-sxm")
MODULES = {"kind": "optical_modules", "part": "optical-hbm-a100"}
SHARED = {"kind": "appliances", "part": "photonic-fabric-appliance", "per_server": 1, "ports": 4, "hit": 0.9}
CHAT = TransformerInference(model="llama-3.1-8b", concurrency=16, input_tokens=64, output_tokens=64)
TRAIN = TransformerTraining(model="bert-large", global_batch=16, sequence=128, micro_batch=1)


def divided(memory: dict[str, Any]) -> DividedPorts:
    fields = FAT_TREE | {"kind": "divided_ports", "memory": memory, "port_energy": "5 pJ/b"}
    found = TypeAdapter(Fabric).validate_python(fields)
    assert isinstance(found, DividedPorts)
    return found


def test_without_free_ports_it_is_a_fat_tree_with_another_memory() -> None:
    """All six pairs serve memory: 12.3 TB/s and 576 GB, on the NVLink and network of the same servers."""
    fabric, tree = divided(MODULES), FatTree.model_validate(FAT_TREE)
    last = fabric.splits(H100)[-1]
    assert (last.memory_units, last.memory_io) == (6, 6)
    assert (last.device.capacity_bytes, last.device.memory_bytes_per_s) == pytest.approx((576e9, 12.288e12))
    assert last.fabric == tree
    for job in (CHAT, TRAIN):
        rows = enumerate_candidates(job, (4, 8), H100, fabric)
        all_memory = rows.take(np.flatnonzero(rows.split == len(rows.splits) - 1))
        plain = enumerate_candidates(job, (4, 8), last.device, tree)
        assert score(all_memory, H100, fabric).step_s == pytest.approx(score(plain, last.device, tree).step_s)


@pytest.mark.parametrize("memory", [MODULES, SHARED])
def test_each_free_port_adds_its_rate_to_both_links(memory: dict[str, Any]) -> None:
    fabric = divided(memory)
    rate = {"optical_modules": 2.048e12, "appliances": 0.9e12}[memory["kind"]]
    ports = {"optical_modules": 6, "appliances": 4}[memory["kind"]]
    for split in fabric.splits(H100):
        assert isinstance(split.fabric, FatTree)
        free = (ports - (split.memory_io or 0)) * rate
        found = split.fabric.nvlink_bandwidth_bytes_per_s, split.fabric.network_bandwidth_bytes_per_s
        assert found == pytest.approx((450e9 + free, 50e9 + free))
        near, far = (split.fabric.network_j_per_byte(one_server) for one_server in (True, False))
        assert near == pytest.approx((450e9 * 80e-12 + free * 40e-12) / (450e9 + free))
        assert far == pytest.approx((50e9 * 160e-12 + free * 40e-12) / (50e9 + free))


def test_more_ports_for_memory_are_never_slower_to_memory_nor_faster_to_the_network() -> None:
    rows = enumerate_candidates(TRAIN, (8,), H100, divided(MODULES))
    scores = score(rows, H100, divided(MODULES))
    columns = [scores.memory_s + scores.compute_s, -scores.communication_s.sum(axis=0)]
    by_split = [[column[rows.split == number] for column in columns] for number in range(len(rows.splits))]
    for (operators, sent), (fewer, less) in zip(by_split[1:], by_split[:-1], strict=True):
        assert len(operators) == len(fewer) > 0
        assert np.all(operators <= fewer * (1 + 1e-12))
        assert np.all(sent <= less + 1e-15)


FOUND = {key: value for key, value in SHARED.items() if key != "hit"}
LARGE = TransformerInference(
    model="llama-3.1-405b", precision="fp8", concurrency=64, input_tokens=64, output_tokens=64, batching="static"
)
TABLES = Dlrm(mode="inference", model="dlrm-10tb", batch=4096)


@pytest.mark.parametrize(("job", "size"), [(LARGE, 4), (TRAIN, 4), (TABLES, 8)])
def test_hits_are_those_of_what_a_job_keeps(job: Workload, size: int) -> None:
    """Each mapping has the price of a fat tree of accelerators with a memory of its own: at the bandwidth of all hits
    where the stacks of its modules, 72 GB each, hold all, else of none; of tables read at random of the share there."""
    fabric = divided(FOUND)
    assert isinstance(fabric.memory, Appliances)
    rows = enumerate_candidates(job, (size,), H100, fabric)
    found, seen = score(rows, H100, fabric), set()
    for number, split in enumerate(rows.splits):
        for mapping in np.unique(rows.mapping[rows.split == number]):
            some = np.flatnonzero((rows.split == number) & (rows.mapping == mapping))
            share = min(72e9 * (split.memory_units or 0) / float(found.footprint_bytes[some[0]]), 1.0)
            hit = share if job is TABLES else float(share == 1.0)
            seen.add(hit)
            device = fabric.memory.choices(hit).device(number, H100)
            one = rows.mappings.take(np.array([mapping]))
            alone = list_candidates(job, one, device, split.fabric, blocks=ListedBlocks(False, None))
            prices = score(alone, device, split.fabric)
            assert found.step_s[some].min() == pytest.approx(prices.step_s.min(), rel=1e-12)
            assert found.energy_j[some].min() == pytest.approx(prices.energy_j.min(), rel=1e-12)
    assert len(seen) > 1 or job is TRAIN


@given(stacks=st.integers(1, 4), users=st.integers(1, 400))
@settings(max_examples=10, deadline=None)
def test_larger_stacks_never_slow_a_job_nor_do_stated_hits(stacks: int, users: int) -> None:
    def steps(count: int, **stated: float) -> np.ndarray:
        part = load_memory_appliance("photonic-fabric-appliance").model_dump(mode="json")
        grown = FOUND | {"ports": 1, "part": part | {"stacks_per_module": count}} | stated
        job = LARGE.model_copy(update={"concurrency": users, "model": "llama-3.1-70b"})
        rows = enumerate_candidates(job, (2,), H100, divided(grown))
        return np.asarray(score(rows, H100, divided(grown)).step_s)

    few, more, best = steps(stacks), steps(stacks + 1), steps(stacks, hit=1.0)
    assert more.min() <= few.min() * (1 + 1e-12)
    assert best.min() <= few.min() * (1 + 1e-12)
    assert few.min() <= steps(stacks, hit=0.0).min() * (1 + 1e-12)


BEHIND = {"unit": "cxl-ddr5", "units": 4}
ADAM = TransformerTraining(
    model="bert-large", global_batch=16, sequence=128, micro_batch=1, offload=("none", "optimizer")
)


@pytest.mark.parametrize("memory", [MODULES, SHARED, FOUND])
def test_a_second_tier_is_priced_as_that_of_a_device(memory: dict[str, Any]) -> None:
    """Each row that offloads has the price of a fat tree of accelerators that offload to as many units; those that do
    not have the price they have without any."""
    fabric, plain = divided(memory | {"second_tier": BEHIND}), divided(memory)
    rows, few = (enumerate_candidates(ADAM, (4,), H100, each) for each in (fabric, plain))
    found, seen = score(rows, H100, fabric), set()
    for number, split in enumerate(rows.splits):
        some = np.flatnonzero((rows.split == number) & (rows.mappings.offload[rows.mapping] > 0))
        if not len(some):
            continue
        units = split.tier_units or 4 * (split.memory_units or 0)
        seen.add(units)
        assert split.device.offload is not None
        assert split.device.offload.capacity_bytes == pytest.approx(units * 512e9)
        device = split.device if split.cached is None else split.cached.at(1.0)
        alone = enumerate_candidates(ADAM, (4,), device, split.fabric)
        away = np.flatnonzero(alone.mappings.offload[alone.mapping] > 0)
        prices = score(alone, device, split.fabric)
        assert found.step_s[some].min() == pytest.approx(prices.step_s[away].min(), rel=1e-12)
        assert found.energy_j[some].min() == pytest.approx(prices.energy_j[away].min(), rel=1e-12)
    assert seen == ({1, 2, 4} if memory is not MODULES else {4 * units for units in range(1, 7)})
    stays = rows.mappings.offload[rows.mapping] == 0
    assert sorted(found.step_s[stays]) == pytest.approx(sorted(score(few, H100, plain).step_s))


def test_what_servers_share() -> None:
    assert divided(SHARED | {"per_server": 3, "second_tier": BEHIND}).shared == (48, 48, 12)
    assert divided(SHARED).shared == (16, 16, 0)
    assert divided(SHARED | {"per_server": 3}).shared == (48, 48, 0)
    assert divided(MODULES).shared is None
    assert divided(MODULES).has_remote_memory
    assert not FatTree.model_validate(FAT_TREE).has_remote_memory
