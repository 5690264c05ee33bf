"""Convolutional and recurrent networks as jobs: against a scalar oracle, counts known by hand, and laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.hardware.device import load_device
from costmodel.hardware.memory.tier import load_memory_tier
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.efficiency import efficiency_of
from costmodel.pricing.score import score
from costmodel.workloads import NetworkTraining
from tests.costmodel.pricing.score_cases import FABRICS, FAT_TREE, assert_equal_the_oracle, fabric_of
from tests.costmodel.strategies import networks
from tests.oracles.networks import network_step

H100 = load_device("h100-sxm")
VGG = NetworkTraining(model="vgg-e", global_batch=64)
LSTM = {"cell": "lstm", "hidden": 1024, "steps": 25}


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(job=networks(), num_devices=st.sampled_from([1, 2, 4, 6]))
def test_columns_equal_the_scalar_oracle(job: NetworkTraining, num_devices: int) -> None:
    mappings = job.mappings(num_devices)
    assert sorted(zip(mappings.tensor.tolist(), mappings.data.tolist(), strict=True)) == [
        (t, num_devices // t) for t in range(1, num_devices + 1) if num_devices % t == 0
    ]
    graph, (footprint_bytes, tier_bytes) = job.op_graph(mappings, H100), job.footprint(mappings)
    for row in range(len(mappings)):
        oracle = network_step(job, mappings.choice(row))
        assert graph.flops[row] == pytest.approx(oracle.total("flops"))
        assert graph.memory_bytes[row] == pytest.approx(oracle.total("memory_bytes"))
        assert sum(count for *_, count in graph.operators_of(row)) == pytest.approx(oracle.total("launches"))
        assert graph.footprint_bytes[row] == footprint_bytes[row] == pytest.approx(oracle.memory.footprint_bytes)
        for dimension in DIMENSIONS:
            sent = [size * n for _, message, size, n in graph.messages_of(row) if message.dimension == dimension]
            assert sum(sent) == pytest.approx(oracle.sent_bytes(dimension))
            assert job.sends(dimension) or not sum(sent)
    assert not tier_bytes.any()
    assert np.all(graph.work == job.global_batch)


@pytest.mark.slow
@settings(deadline=None, max_examples=12)
@given(job=networks(), fabric_name=st.sampled_from([*FABRICS]))
def test_prices_equal_the_scalar_oracle(job: NetworkTraining, fabric_name: str) -> None:
    fabric = fabric_of(FABRICS[fabric_name])
    candidates = enumerate_candidates(job, (1, 2, 4, 8), H100, fabric)
    assert len(candidates) > 0
    assert_equal_the_oracle(candidates, H100, fabric, 6)


def test_a_sample_of_vgg_takes_what_its_paper_counts() -> None:
    """19.6 billion multiplications forward, and as many for each gradient but that of images; 144 million weights."""
    first = 2 * 224**2 * 64 * 27
    assert VGG.flops_per_work == pytest.approx(3 * 2 * 19.63e9 - first, rel=1e-3)
    graph = VGG.op_graph(VGG.mappings(1), H100)
    assert graph.flops[0] == pytest.approx(64 * VGG.flops_per_work)
    gradients = [size for _, each, size, _ in graph.messages_of(0) if each.name == "gradients"]
    assert gradients == [pytest.approx(4 * 143.65e6, rel=1e-3)]


def test_what_leaves_waits_for_the_forward_pass_and_for_the_step() -> None:
    """All outputs leave but the last one, which is used at once; a slow tier shows what operators do not hide."""
    job = NetworkTraining(model=LSTM, global_batch=256, offload="activations")
    tier = load_memory_tier("host-pcie5").model_copy(update={"bandwidth_bytes_per_s": 1e9})
    device, fabric = H100.model_copy(update={"offload": tier}), fabric_of(FAT_TREE)
    rows = enumerate_candidates(job, (1,), device, fabric)
    scores, left = score(rows, device, fabric), 24 * 4 * 1024 * 256 * 4
    operator_s = float(scores.compute_s[0] + scores.memory_s[0])
    assert efficiency_of(device, "training", "fp32")[0].step_s > operator_s, "which is no part of these steps"
    forward = 25 / (25 + 24 + 25)
    assert scores.offload_s == pytest.approx([max(2 * left / 1e9 - operator_s, left / 1e9 - forward * operator_s)])
    _, away = job.footprint(job.mappings(1))
    assert left <= away[0] < left * 1.2


@pytest.mark.slow
@settings(deadline=None, max_examples=30)
@given(job=networks(), num_devices=st.sampled_from([1, 2, 4]))
def test_offloading_trades_local_memory_for_the_tier(job: NetworkTraining, num_devices: int) -> None:
    kept, moved = (job.model_copy(update={"offload": each}) for each in ("none", "activations"))
    (near, _), (local, away) = kept.footprint(kept.mappings(num_devices)), moved.footprint(moved.mappings(num_devices))
    assert np.all(local <= near + 1e-6)
    assert np.all(near - local <= away)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"offload": "weights"}, "'weights' is not one of none, activations"),
        ({"offload": ()}, "give at least one choice"),
        ({"model": "vgg"}, "did you mean vgg-e"),
        ({"model": {"cell": "lstm", "hidden": 0, "steps": 3}}, "greater than or equal to 1"),
        ({"model": {"layers": []}}, "channels"),
    ],
)
def test_bad_input_is_named(fields: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        NetworkTraining.model_validate({"model": "vgg-e", "global_batch": 8} | fields)


def test_files_come_back_as_they_were() -> None:
    for model in ("resnet-34", LSTM):
        job = NetworkTraining.model_validate({"model": model, "global_batch": 8, "offload": ["none", "activations"]})
        assert NetworkTraining.model_validate_json(job.model_dump_json()) == job
