"""Serving against loops over layers, and against counts known by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from costmodel.fabrics import FatTree
from costmodel.hardware.device import Device, load_device
from costmodel.parallelism.mappings import DIMENSIONS
from costmodel.pricing.candidates import enumerate_candidates
from costmodel.pricing.score import score
from costmodel.serving.admission import MEMORY_SHARE
from costmodel.workloads import TransformerInference, Workload
from tests.costmodel.pricing.score_cases import FAT_TREE
from tests.costmodel.strategies import serving_jobs
from tests.oracles.transformer_inference import inference_steps

H100 = load_device("h100-sxm")
CHAT = TransformerInference(
    model="llama-3.1-70b", precision="fp8", concurrency=64, input_tokens=1024, output_tokens=512
)


def small_shape(**changes: object) -> dict[str, object]:
    shape = {
        "layers": 6, "hidden": 64, "heads": 8, "kv_heads": 2, "head_dim": 16,
        "ffn": 192, "gated": True, "vocabulary": 1000,
    }  # fmt: skip
    return shape | changes


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(job=serving_jobs(), num_devices=st.sampled_from([1, 2, 4, 6, 8]))
def test_columns_equal_the_scalar_oracle(job: TransformerInference, num_devices: int) -> None:
    mappings = job.mappings(num_devices)
    graph = job.op_graph(mappings, H100)
    flops, memory_bytes, (_, tier_bytes) = graph.flops, graph.memory_bytes, job.footprint(mappings)
    for row in range(len(mappings)):
        oracle = inference_steps(job, mappings.choice(row), H100)
        assert flops[row] == pytest.approx(oracle.total("flops"))
        assert memory_bytes[row] == pytest.approx(oracle.total("memory_bytes"))
        assert sum(count for *_, count in graph.operators_of(row)) == pytest.approx(oracle.total("launches"))
        assert graph.footprint_bytes[row] == pytest.approx(oracle.footprint_bytes)
        for dimension in DIMENSIONS:
            sent = [size * n for _, message, size, n in graph.messages_of(row) if message.dimension == dimension]
            assert sum(sent) == pytest.approx(oracle.sent_bytes(dimension))
    assert not graph.bubble.any()
    assert not tier_bytes.any()
    assert np.all(graph.work == job.concurrency)


def test_mappings_of_the_chat_job() -> None:
    mappings = CHAT.mappings(8)
    rows = [*zip(mappings.tensor, mappings.data, mappings.micro_batch, strict=True)]
    assert rows == [(1, 8, 8), (2, 4, 16), (4, 2, 32), (8, 1, 64)]
    assert np.all(mappings.pipeline == 1)


def test_replicas_never_exceed_users_and_the_fullest_counts() -> None:
    job = CHAT.model_copy(update={"concurrency": 3})
    mappings = job.mappings(4)
    assert mappings.data.tolist() == [2, 1]
    assert mappings.micro_batch.tolist() == [2, 3]


def test_numbers_of_users_to_choose_from_are_mappings_each_with_its_most_users() -> None:
    job = CHAT.model_copy(update={"concurrency": (2, 7, 8, 64)})
    mappings = job.mappings(4)
    found = [*zip(mappings.tensor, mappings.data, mappings.micro_batch, job.users_served(mappings), strict=True)]
    assert sorted(found) == [
        (1, 4, 2, 8), (1, 4, 16, 64), (2, 2, 1, 2), (2, 2, 4, 8), (2, 2, 32, 64),
        (4, 1, 2, 2), (4, 1, 7, 7), (4, 1, 8, 8), (4, 1, 64, 64),
    ]  # fmt: skip


def test_each_number_of_users_is_priced_as_if_it_were_the_only_one() -> None:
    fabric = FatTree.model_validate(FAT_TREE | {"gpus_per_server": 8})
    several = enumerate_candidates(CHAT.model_copy(update={"concurrency": (8, 32)}), (8,), H100, fabric)
    prices = score(several, H100, fabric)
    by_row = {several.configuration(row): prices.take([row]) for row in range(len(several))}
    for users in (8, 32):
        alone = enumerate_candidates(CHAT.model_copy(update={"concurrency": users}), (8,), H100, fabric)
        scores = score(alone, H100, fabric)
        for row in range(len(alone)):
            same = by_row[alone.configuration(row)]
            assert (same.work[0], same.step_s[0]) == (users, scores.step_s[row])


def test_kv_heads_are_copied_beyond_their_number() -> None:
    """16 ranks hold 8 KV heads: one each, not half of one."""
    mappings = CHAT.mappings(16)
    graph = CHAT.op_graph(mappings, H100)
    by_tensor = {}
    for row in range(len(mappings)):
        rows = [each for each in graph.operators_of(row) if each[0].name == "decode layers"]
        (by_tensor[int(mappings.tensor[row])],) = (moved for _, o, _, moved, _ in rows if o.kind == "attention")
    cached_bytes = 1280 * 2 * 2 * 128
    assert by_tensor[16] == pytest.approx(64 * (cached_bytes + 4 * 4 * 128))
    assert by_tensor[8] == pytest.approx(32 * (cached_bytes + 4 * 8 * 128))


def test_flops_do_not_depend_on_the_mapping() -> None:
    mappings = CHAT.mappings(8)
    everywhere = CHAT.op_graph(mappings, H100).flops * mappings.num_devices
    np.testing.assert_allclose(everywhere, everywhere[0])


def test_decode_reads_all_weights_once() -> None:
    """At one user a decode step is 2 operations per parameter, and its bytes are the weights."""
    job = TransformerInference(model="llama-3.1-8b", concurrency=1, input_tokens=1, output_tokens=2)
    graph = job.op_graph(job.mappings(1), H100)
    rows = list(graph.alone("decode").operators_of(0))
    parameters = job.shape.num_parameters - job.shape.vocabulary * job.shape.hidden
    assert sum(flops * n for *_, flops, _, n in rows) == pytest.approx(2 * parameters, rel=0.01)
    assert sum(moved * n for *_, moved, n in rows) == pytest.approx(2 * parameters, rel=0.01)


def test_decode_reads_the_experts_that_tokens_visit() -> None:
    """Mixtral activates 12.9e9 of its 46.7e9 parameters per token; a large batch reads all of them."""
    one = TransformerInference(model="mixtral-8x7b", concurrency=1, input_tokens=1, output_tokens=2000)
    many = one.model_copy(update={"concurrency": 1024})
    read = []
    for job in (one, many):
        roomy = H100.model_copy(update={"capacity_bytes": 1e13})
        rows = job.op_graph(job.mappings(1), roomy).alone("decode").operators_of(0)
        decode = [each for each in rows if each[1].kind == "matrix"]
        assert sum(flops * n for *_, flops, _, n in decode) == pytest.approx(2 * 12.75e9 * job.concurrency, rel=0.02)
        read.append(sum(moved * n for *_, moved, n in decode))
    activations_bytes = (
        2 * 32 * (4096 + 6144 + 2 * 4096 + 2 * (4096 + 28672 + 14336 + 4096)) + 2 * 36096 + 32 * 2 * 4104
    )
    assert read[0] - activations_bytes == pytest.approx(2 * 12.75e9, rel=0.01)
    assert read[1] - 1024 * activations_bytes == pytest.approx(2 * 46.6e9, rel=0.01)


def test_experts_are_divided_over_replicas() -> None:
    """Each of eight replicas holds the experts' eighth, beside its own attention and vocabulary."""
    job = TransformerInference(model="mixtral-8x7b", concurrency=64, input_tokens=8, output_tokens=8, expert=(1, 8))
    mappings = job.mappings(8)
    rows = mappings.tensor == 1
    by_expert = dict(zip(mappings.expert[rows].tolist(), job.footprint(mappings)[0][rows].tolist(), strict=True))
    experts_bytes = 2 * 32 * 8 * 3 * 4096 * 14336
    assert by_expert[1] - by_expert[8] == pytest.approx(experts_bytes * 7 / 8 / MEMORY_SHARE)


def test_footprint_of_a_known_case() -> None:
    """Llama 70B in fp8 on 8 devices: 68.5 GB of layers, 4.2 GB of vocabulary, 327,680 B of KV per token."""
    graph = CHAT.op_graph(CHAT.mappings(8), H100)
    expected = (68.46e9 + 4.20e9 + 64 * 1536 * 327680) / 8 + 2e9
    assert graph.footprint_bytes[-1] == pytest.approx(expected, rel=0.01)


def test_more_bandwidth_is_never_slower() -> None:
    fast = Device.model_validate(H100.model_dump() | {"memory_bandwidth": "4800 GB/s"})
    fabric = FatTree.model_validate(FAT_TREE | {"gpus_per_server": 8})
    candidates = enumerate_candidates(CHAT, (8,), H100, fabric)
    before, after = (score(candidates, device, fabric).step_s for device in (H100, fast))
    assert len(before) > 0
    assert np.all(after < before)


def test_no_device_no_mapping() -> None:
    odd = CHAT.mappings(67)
    assert len(odd) == 0
    assert CHAT.op_graph(odd, H100).flops.shape == (0,)


def test_workload_is_selected_by_kind() -> None:
    job = TypeAdapter(Workload).validate_python(CHAT.model_dump())
    assert job == CHAT
    assert job.speed_unit == "tokens/s"


def test_a_device_without_the_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="'a100-sxm' does not run fp8"):
        CHAT.op_graph(CHAT.mappings(8), load_device("a100-sxm"))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("model", "llama-70b", "unknown model 'llama-70b'; did you mean llama-2-70b"),
        ("model", {"layers": 1}, "model.shape.hidden"),
        ("model", small_shape(kv_heads=3), r"kv_heads \(3\) must divide heads \(8\)"),
        ("precision", "fp2", "'fp8', 'int8' or 'fp4'"),
        ("concurrency", 0, "greater than or equal to 1"),
        ("model", small_shape(experts=2, experts_per_token=3), r"experts_per_token \(3\) must not exceed experts"),
    ],
)
def test_bad_fields_are_named(key: str, value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TransformerInference.model_validate(CHAT.model_dump() | {key: value})
