"""All rows at once against one row at a time, chunk by chunk, and a pipeline known by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import costmodel.pricing.on_devices
from costmodel.hardware.device import Device, load_device
from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import list_candidates
from costmodel.pricing.efficiency import TRAINING_STEP_S
from costmodel.pricing.score import Scores, score
from costmodel.workloads import TransformerInference, TransformerTraining
from tests.costmodel.pricing.score_cases import (
    DEVICE,
    FABRICS,
    FAT_TREE,
    LIGHTPATH,
    WORKLOADS,
    assert_equal_the_oracle,
    candidates_of,
    fabric_of,
)
from tests.costmodel.strategies import jobs, serving_jobs, some


@pytest.mark.slow
@pytest.mark.parametrize("fabric_name", FABRICS)
@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_row_costs_what_the_scalar_oracle_says(workload: str, fabric_name: str) -> None:
    fabric = fabric_of(FABRICS[fabric_name])
    candidates = candidates_of(WORKLOADS[workload], fabric, 1, 2, 4, 8)
    assert len(candidates) > 0
    assert_equal_the_oracle(candidates, DEVICE, fabric, 25)


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(
    job=jobs(),
    num_devices=st.sampled_from([1, 2, 4, 8, 16]),
    overlap=st.dictionaries(st.sampled_from(DIMENSIONS), st.floats(0, 1)),
    tier_bandwidth=st.sampled_from(["1 MB/s", "1 TB/s"]),
    fabric_name=st.sampled_from(["fat_tree", "lightpath", "shared"]),
    data=st.data(),
)
def test_random_mappings_of_training(
    job: TransformerTraining,
    num_devices: int,
    overlap: dict[Any, float],
    tier_bandwidth: str,
    fabric_name: str,
    data: st.DataObject,
) -> None:
    tier = load_memory_tier("host-pcie5").model_dump() | {"bandwidth": tier_bandwidth}
    device = Device.model_validate(DEVICE.model_dump() | {"offload": tier})
    fabric = fabric_of(FABRICS[fabric_name] | ({"servers": 4} if num_devices > 8 else {}))
    job = job.model_copy(update={"overlap": overlap})
    mappings = some(data.draw, job.mappings(num_devices), 8)
    candidates = list_candidates(job, mappings, device, fabric, blocks=lambda f, spans, n: f.blocks(spans, n))
    assert_equal_the_oracle(candidates, device, fabric, 6)


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(job=serving_jobs(), num_devices=st.sampled_from([1, 2, 4, 8]), data=st.data())
def test_random_mappings_of_serving(job: TransformerInference, num_devices: int, data: st.DataObject) -> None:
    """All-reduces of a draft and of its model are priced by their mean size, which the oracle does one by one."""
    device = load_device(data.draw(st.sampled_from(["h100-sxm", "b200-sxm"])))
    fabric = fabric_of(FABRICS["fat_tree"])
    mappings = some(data.draw, job.mappings(num_devices), 8)
    candidates = list_candidates(job, mappings, device, fabric, blocks=lambda f, spans, n: f.blocks(spans, n))
    has_draft = job.speculation is not None and job.speculation.draft_layers(job.shape) > 0
    assert_equal_the_oracle(candidates, device, fabric, 6, rel=3e-2 if has_draft else 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("name", WORKLOADS)
def test_chunks_change_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = fabric_of(LIGHTPATH)
    candidates = candidates_of(WORKLOADS[name], fabric, 1, 2, 4)
    rows = np.random.default_rng(1).permutation(len(candidates))[:500]
    whole = score(candidates, DEVICE, fabric)
    for size in (1 << 20, 97, 1):
        monkeypatch.setattr(costmodel.pricing.on_devices, "CHUNK", size)
        parts = score(candidates.take(rows), DEVICE, fabric)
        for column, expected in zip(vars(parts).values(), vars(whole.take(rows)).values(), strict=True):
            np.testing.assert_array_equal(column, expected)


def test_uneven_stages_are_no_slower_than_even_ones_of_more_layers() -> None:
    """A last stage with fewer layers has time for the vocabulary; no part of the price falls below zero."""
    shape = {
        "layers": 7, "hidden": 1024, "heads": 8, "kv_heads": 8, "head_dim": 128, "ffn": 4096, "vocabulary": 50000,
    }  # fmt: skip
    job = {"kind": "transformer_training", "global_batch": 16, "sequence": 1, "micro_batch": 1, "uneven_stages": True}
    fabric = fabric_of(FAT_TREE)
    both = []
    for layers in (7, 8):
        candidates = candidates_of(job | {"model": shape | {"layers": layers}}, fabric, 2, 4)
        scores = score(candidates, DEVICE, fabric)
        for name in ("compute_s", "memory_s", "bubble_s"):
            assert np.all(getattr(scores, name) >= 0)
        parts = scores.compute_s + scores.memory_s + scores.communication_s.sum(axis=0) + scores.bubble_s
        np.testing.assert_allclose(parts + scores.reconfiguration_s + scores.offload_s, scores.step_s)
        keys = [candidates.configuration(row) for row in range(len(candidates))]
        both.append(dict(zip(keys, scores.step_s.tolist(), strict=True)))
    shared = both[0].keys() & both[1].keys()
    assert any(c.pipeline > 1 for c in shared)
    assert all(both[0][c] <= both[1][c] for c in shared)


def test_what_the_last_stage_alone_executes_costs_energy_once() -> None:
    """Energy of operations is the same however the job is divided into stages."""
    fabric = fabric_of(FAT_TREE)
    job = WORKLOADS["training"] | {"micro_batch": 1, "global_batch": 8}
    candidates = candidates_of(job, fabric, 4)
    compute_j = score(candidates, DEVICE.model_copy(update={"power_limit_w": None}), fabric).compute_j
    assert len({candidates.configuration(row).pipeline for row in range(len(candidates))}) == 3
    np.testing.assert_allclose(compute_j, compute_j[0])


def test_derived_columns_and_rows_taken() -> None:
    fabric = fabric_of(LIGHTPATH)
    scores = score(candidates_of(WORKLOADS["training"], fabric, 1, 2, 4), DEVICE, fabric)
    parts = scores.compute_j + scores.memory_j + scores.network_j + scores.active_j + scores.static_j + scores.node_j
    np.testing.assert_allclose(scores.speed * scores.step_s, 24 * 512)
    np.testing.assert_allclose(scores.energy_j, parts)
    np.testing.assert_allclose(scores.energy_per_work_j * scores.work, parts)
    np.testing.assert_allclose(scores.power_w * scores.step_s, parts)
    taken: Scores = scores.take(np.array([2, 0]))
    assert taken.step_s.tolist() == [scores.step_s[2], scores.step_s[0]]
    assert taken.communication_s.shape == (5, 2)


def test_a_single_device_neither_sends_nor_switches_nor_waits() -> None:
    fabric = fabric_of(LIGHTPATH)
    scores = score(candidates_of(WORKLOADS["training"], fabric, 1), DEVICE, fabric)
    for column in (scores.communication_s, scores.reconfiguration_s, scores.bubble_s, scores.network_j):
        assert not column.any()


def test_bubble_of_a_pipeline_by_hand() -> None:
    """One micro-batch over two stages: each waits as long as it works, so the bubble equals what is repeated."""
    workload = WORKLOADS["training"] | {"global_batch": 4, "micro_batch": 4}
    fabric = fabric_of(LIGHTPATH)
    candidates = candidates_of(workload, fabric, 2)
    scores = score(candidates, DEVICE, fabric)
    rows = [row for row in range(len(candidates)) if candidates.configuration(row).pipeline == 2]
    assert rows
    for row in rows:
        part, graph = candidates.part(np.array([row]), DEVICE)
        assert len(part) == len(graph) == 1
        assert graph.bubble[0] == 1.0
        assert 0 < scores.bubble_s[row] <= scores.step_s[row] / 2 + 1e-12


def test_circuits_switch_for_data_only_beside_other_dimensions() -> None:
    fabric = fabric_of(LIGHTPATH)
    candidates = candidates_of(WORKLOADS["training"], fabric, 2, 4)
    scores = score(candidates, DEVICE, fabric)
    for row in range(len(candidates)):
        c = candidates.configuration(row)
        alone = sum(degree > 1 for degree in (c.tensor, c.pipeline, c.data)) <= 1
        assert (scores.reconfiguration_s[row] == 0) == alone
        if c.tensor == c.data == 2:
            assert scores.reconfiguration_s[row] % 80e-6 == pytest.approx(0, abs=1e-9) or (
                scores.reconfiguration_s[row] % 80e-6 == pytest.approx(80e-6, abs=1e-9)
            )


def test_empty_candidates_have_empty_scores() -> None:
    fabric = fabric_of(LIGHTPATH)
    only = {"global_batch": 1, "micro_batch": 1, "uneven_stages": False}
    candidates = candidates_of(WORKLOADS["training"] | only, fabric, 5)
    assert len(candidates) == 0
    assert score(candidates, DEVICE, fabric).step_s.shape == (0,)


def test_recorded_graphs_take_their_share_of_what_a_step_takes_whatever_it_does() -> None:
    """17 ms of a step on a device without a fit, and a tenth of it where kernels are recorded."""
    fabric, device = fabric_of(FAT_TREE), load_device("tpu-v7")
    job = WORKLOADS["training"] | {"model": "bert-large", "global_batch": 64, "micro_batch": 8}
    plain, recorded = (
        score(candidates_of(job | {"cuda_graphs": recorded}, fabric, 1), device, fabric).step_s for recorded in (0, 1)
    )
    assert np.all(plain - recorded >= 0.9 * TRAINING_STEP_S - 1e-12)
