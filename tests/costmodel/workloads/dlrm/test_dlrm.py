"""Recommendation models as jobs: against a scalar oracle, counts known by hand, and the published pooling."""

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from costmodel.fabrics import FatTree
from costmodel.hardware.device import Device, load_device
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from costmodel.pricing.search import search
from costmodel.workloads import Dlrm
from costmodel.workloads.dlrm.recommenders import load_recommender
from tests.costmodel.pricing.score_cases import FABRICS, FAT_TREE, assert_equal_the_oracle, fabric_of
from tests.costmodel.strategies import recommenders
from tests.costmodel.workloads.dlrm.dlrm_cases import TRAIN
from tests.oracles.dlrm import dlrm_step
from tests.paths import ROOT

H100 = load_device("h100-sxm")
SERVE = Dlrm(mode="inference", model="dlrm-dcnv2", batch=4096)
INSTANCES = (
    "lumorph/rack64", "lumorph/dgx64", "ocs_rail/rails64",
    "torus/cubes16", "torus/pod64", "torus/sipac64", "sipam/mixed",
)  # fmt: skip
"""one of each fabric"""


@pytest.mark.slow
@settings(deadline=None, max_examples=80)
@given(job=recommenders(), num_devices=st.sampled_from([1, 2, 4, 6, 8, 12]))
def test_columns_equal_the_scalar_oracle(job: Dlrm, num_devices: int) -> None:
    mappings = job.mappings(num_devices)
    graph, (footprint_bytes, tier_bytes) = job.op_graph(mappings, H100), job.footprint(mappings)
    for row in range(len(mappings)):
        oracle = dlrm_step(job, mappings.choice(row))
        assert graph.flops[row] == pytest.approx(oracle.total("flops"))
        assert graph.memory_bytes[row] == pytest.approx(oracle.total("memory_bytes"))
        assert sum(count for *_, count in graph.operators_of(row)) == pytest.approx(oracle.total("launches"))
        assert graph.footprint_bytes[row] == footprint_bytes[row] == pytest.approx(oracle.memory.footprint_bytes)
        for dimension in DIMENSIONS:
            sent = [size * n for _, message, size, n in graph.messages_of(row) if message.dimension == dimension]
            assert sum(sent) == pytest.approx(oracle.sent_bytes(dimension))
            assert job.sends(dimension) or not sum(sent)
    assert not graph.bubble.any()
    assert not tier_bytes.any()
    assert np.all(graph.work == job.batch)


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(job=recommenders(), fabric_name=st.sampled_from([*FABRICS]))
def test_prices_equal_the_scalar_oracle(job: Dlrm, fabric_name: str) -> None:
    fabric = fabric_of(FABRICS[fabric_name])
    candidates = enumerate_candidates(job, (1, 2, 4, 8), H100, fabric)
    assert len(candidates) > 0
    assert_equal_the_oracle(candidates, H100, fabric, 6)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(job=recommenders(), num_devices=st.sampled_from([2, 4, 8]))
def test_rows_are_divided_over_ranks_and_nothing_else_is_lost(job: Dlrm, num_devices: int) -> None:
    """Footprint of tables times ranks is the tables times replicas; operations do not depend on the mapping."""
    mappings = job.mappings(num_devices)
    doubled = job.model_copy(update={"model": job.shape.model_copy(update={"tables": _doubled(job)})})
    extra = doubled.footprint(mappings)[0] - job.footprint(mappings)[0]
    state = 4 if job.mode == "training" else 0
    size = {"fp32": 4, "bf16": 2}[job.table_precision] * job.shape.dimension + state
    assert extra * mappings.tensor == pytest.approx(np.full(len(mappings), job.shape.num_rows * size))
    everywhere = job.op_graph(mappings, H100).flops * num_devices
    np.testing.assert_allclose(everywhere, everywhere[0])
    assert everywhere[0] == pytest.approx(job.flops_per_work * job.batch)


def _doubled(job: Dlrm) -> tuple[object, ...]:
    return tuple(table.model_copy(update={"rows": 2 * table.rows}) for table in job.shape.tables)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(job=recommenders(), factor=st.integers(2, 5))
def test_gathers_are_linear_in_batch_and_pooling(job: Dlrm, factor: int) -> None:
    pooled = tuple(table.model_copy(update={"pooling": factor * table.pooling}) for table in job.shape.tables)
    more_pooling = job.model_copy(update={"model": job.shape.model_copy(update={"tables": pooled})})
    more_samples = job.model_copy(update={"batch": factor * job.batch})
    gathered = [_gathered_bytes(each) for each in (job, more_pooling, more_samples)]
    assert gathered[1] == pytest.approx(factor * gathered[0])
    assert gathered[2] == pytest.approx(factor * gathered[0])


def _gathered_bytes(job: Dlrm) -> NDArray[np.float64]:
    graph = job.op_graph(job.mappings(4), H100)
    rows = ([*graph.operators_of(row)] for row in range(len(graph)))
    return np.array([sum(moved * n for _, o, _, moved, n in row if o.memory_efficiency is not None) for row in rows])


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(job=recommenders(), faster=st.floats(1.01, 8))
def test_more_bandwidth_is_never_slower(job: Dlrm, faster: float) -> None:
    fabric = FatTree.model_validate(FAT_TREE)
    device = H100.model_copy(update={"memory_bytes_per_s": faster * H100.memory_bytes_per_s})
    wide = fabric.model_copy(
        update={
            "nvlink_bandwidth_bytes_per_s": faster * fabric.nvlink_bandwidth_bytes_per_s,
            "network_bandwidth_bytes_per_s": faster * fabric.network_bandwidth_bytes_per_s,
        }
    )
    candidates = enumerate_candidates(job, (1, 2, 8), H100, fabric)
    before = score(candidates, H100, fabric).step_s
    assert np.all(score(candidates, device, fabric).step_s < before)
    assert np.all(score(enumerate_candidates(job, (1, 2, 8), H100, wide), H100, wide).step_s <= before * (1 + 1e-12))


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(tensor=st.sampled_from([1, 2, 8]), batch=st.sampled_from([128, 1024]), pooling=st.integers(1, 64))
def test_lookups_cost_what_is_reckoned_by_hand(tensor: int, batch: int, pooling: int) -> None:
    """The gather and the exchange of one replica, where a ring exchanges; pooled rows in memory are ours alone."""
    device = H100.model_copy(update={"launch_s": 12e-6})
    shape = load_recommender("dlrm-10tb")
    tables = (shape.tables[0].model_copy(update={"pooling": pooling, "rows": 1000}),)
    job = Dlrm(mode="inference", model=shape.model_copy(update={"tables": tables}), batch=batch)
    fabric = FatTree.model_validate(
        FAT_TREE | {"gpus_per_server": 8, "nvlink_alpha": "2.5 us", "nvlink_bandwidth": "300 GB/s"}
    )
    candidates = enumerate_candidates(job, (tensor,), device, fabric, collective="ring", one_server=True)
    row = int(np.flatnonzero(candidates.mappings.tensor[candidates.mapping] == tensor)[0])
    graph = job.op_graph(candidates.mappings, device)
    gather_s = sum(
        moved / (o.memory_efficiency * device.memory_bytes_per_s) + device.launch_s
        for _, o, _, moved, _ in graph.operators_of(int(candidates.mapping[row]))
        if o.memory_efficiency
    )
    exchange_s = float(score(candidates, device, fabric).communication_s[0, row])
    sent = (tensor - 1) / tensor
    by_hand_s = 12e-6 + 64 * batch * pooling / tensor * 136 / (0.79 * 3350e9)
    by_hand_s += (tensor - 1) * 2.5e-6 + sent * 64 * batch * 128 / 300e9
    assert gather_s + exchange_s == pytest.approx(by_hand_s)


def test_no_tree_scatters_pooled_rows() -> None:
    """A tree reduces to one root; ranks that only reduce-scatter and all-gather have a ring."""
    fabric = FatTree.model_validate(FAT_TREE | {"gpus_per_server": 8})
    found = enumerate_candidates(SERVE, (8,), H100, fabric)
    kinds = {plan.kind for number, plan in enumerate(found.plans) if number in found.plan[0]}
    assert "ring" in kinds
    assert "tree" not in kinds


def test_memory_says_how_many_accelerators_it_takes() -> None:
    """10 TB take 128 of 80 GB, and the tensor group then spans servers; a replica of the small one takes two."""
    fabric = FatTree.model_validate(FAT_TREE | {"servers": 32, "gpus_per_server": 8})
    large = Dlrm(mode="inference", model="dlrm-10tb", batch=4096)
    sizes = {int(n) for n in enumerate_candidates(large, (32, 64, 128, 256), H100, fabric).num_devices}
    assert sizes == {128, 256}
    assert enumerate_candidates(SERVE, (1, 2), H100, fabric).num_devices.tolist() == [2]


def test_mappings_give_all_ranks_as_many_samples() -> None:
    mappings = SERVE.mappings(4)
    rows = [*zip(mappings.tensor, mappings.data, mappings.micro_batch, strict=True)]
    assert rows == [(1, 4, 1024), (2, 2, 2048), (4, 1, 4096)]
    assert len(SERVE.mappings(3)) == 0
    assert SERVE.op_graph(SERVE.mappings(3), H100).flops.shape == (0,)


def test_replicas_share_nothing_in_inference_and_all_updates_in_training() -> None:
    assert [SERVE.sends(d) for d in DIMENSIONS] == [True, False, False, False, False]
    assert [TRAIN.sends(d) for d in DIMENSIONS] == [True, False, True, False, False]


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTANCES)
def test_every_fabric_runs_it(name: str) -> None:
    text = (ROOT / "instances" / f"{name}.yaml").read_text(encoding="utf-8")
    fabric = fabric_of(yaml.safe_load(text)["cluster"]["fabric"])
    for job in (TRAIN, SERVE):
        candidates = enumerate_candidates(job, (4, 8), H100, fabric)
        assert len(candidates) > 0
        assert np.all(score(candidates, H100, fabric).step_s > 0)


def test_search_finds_the_fastest_division() -> None:
    fabric = FatTree.model_validate(FAT_TREE | {"servers": 1, "gpus_per_server": 8})
    found = search(SERVE, [8], H100, fabric, top=2)
    assert found.best[0].configuration.tensor == 2
    assert 0 < found.best[0].mfu < 1


def test_a_device_without_the_precision_is_refused() -> None:
    plain = Device.model_validate(H100.model_dump() | {"flops": {"bf16": 1e15}})
    with pytest.raises(ValueError, match="does not run fp8"):
        SERVE.model_copy(update={"precision": "fp8"}).op_graph(SERVE.mappings(2), plain)
