import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from costmodel.hardware import Device, load_device
from costmodel.opgraph import Mappings, OpGraph
from costmodel.roofline import operator_s
from costmodel.workloads import TransformerInference, Workload
from tests.oracles.transformer import inference_step

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


def total(graph: OpGraph, column: np.ndarray) -> np.ndarray:
    return (column * graph.count).sum(axis=0)


@st.composite
def jobs(draw: st.DrawFn) -> TransformerInference:
    heads = draw(st.sampled_from([4, 8, 12]))
    shape = small_shape(
        layers=draw(st.integers(1, 4)),
        heads=heads,
        kv_heads=draw(st.sampled_from([k for k in (1, 2, 4, heads) if heads % k == 0])),
        gated=draw(st.booleans()),
        tied_embeddings=draw(st.booleans()),
        causal=draw(st.booleans()),
    )
    return TransformerInference(
        model=shape,
        precision=draw(st.sampled_from(["fp8", "bf16"])),
        kv_precision=draw(st.sampled_from(["fp8", "bf16"])),
        concurrency=draw(st.integers(1, 40)),
        input_tokens=draw(st.integers(1, 300)),
        output_tokens=draw(st.integers(1, 300)),
    )


@settings(deadline=None, max_examples=60)
@given(job=jobs(), num_devices=st.sampled_from([1, 2, 4, 6, 8]))
def test_columns_equal_the_scalar_oracle(job: TransformerInference, num_devices: int) -> None:
    mappings = job.mappings(num_devices)
    graph = job.op_graph(mappings, H100)
    flops, memory_bytes = total(graph, graph.flops), total(graph, graph.memory_bytes)
    sent = (graph.message_bytes * graph.message_count).sum(axis=0)
    for row in range(len(mappings)):
        oracle = inference_step(job, int(mappings.tensor[row]), int(mappings.data[row]))
        assert flops[row] == pytest.approx(oracle.flops)
        assert memory_bytes[row] == pytest.approx(oracle.memory_bytes)
        assert graph.count[:, row].sum() == pytest.approx(oracle.launches)
        assert sent[row] == pytest.approx(oracle.sent_bytes.get("tensor", 0.0))
        assert graph.footprint_bytes[row] == pytest.approx(oracle.footprint_bytes)
    assert np.all(graph.bubble == 1)
    assert np.all(graph.work == job.concurrency)


def test_mappings_of_the_chat_job() -> None:
    mappings = CHAT.mappings(8)
    rows = [*zip(mappings.tensor, mappings.data, mappings.micro_batch, strict=True)]
    assert rows == [(1, 8, 8), (2, 4, 16), (4, 2, 32), (8, 1, 64)]
    assert np.all(mappings.pipeline == 1)
    assert mappings.tensor.dtype == np.int64


def test_replicas_never_exceed_users_and_the_fullest_counts() -> None:
    job = CHAT.model_copy(update={"concurrency": 3})
    mappings = job.mappings(4)
    assert mappings.data.tolist() == [2, 1]
    assert mappings.micro_batch.tolist() == [2, 3]


def test_kv_heads_are_copied_beyond_their_number() -> None:
    """16 ranks hold 8 KV heads: one each, not half of one."""
    graph = CHAT.op_graph(CHAT.mappings(16), H100)
    attention = graph.operators.index("decode attention")
    by_tensor = dict(zip(CHAT.mappings(16).tensor.tolist(), graph.memory_bytes[attention], strict=True))
    cached_bytes = 1280 * 2 * 2 * 128
    assert by_tensor[16] == pytest.approx(64 * (cached_bytes + 4 * 4 * 128))
    assert by_tensor[8] == pytest.approx(32 * (cached_bytes + 4 * 8 * 128))


def test_flops_do_not_depend_on_the_mapping() -> None:
    mappings = CHAT.mappings(8)
    graph = CHAT.op_graph(mappings, H100)
    everywhere = total(graph, graph.flops) * mappings.num_devices
    np.testing.assert_allclose(everywhere, everywhere[0])


def test_decode_reads_all_weights_once() -> None:
    """At one user a decode step is 2 operations per parameter, and its bytes are the weights."""
    job = TransformerInference(model="llama-3.1-8b", concurrency=1, input_tokens=1, output_tokens=1)
    graph = job.op_graph(job.mappings(1), H100)
    decode = np.array([name.startswith("decode") for name in graph.operators])
    parameters = job.shape.num_parameters - job.shape.vocabulary * job.shape.hidden
    assert (graph.flops * graph.count)[decode].sum() == pytest.approx(2 * parameters, rel=0.01)
    assert (graph.memory_bytes * graph.count)[decode].sum() == pytest.approx(2 * parameters, rel=0.01)


def test_footprint_of_a_known_case() -> None:
    """Llama 70B in fp8 on 8 devices: 68.5 GB of layers, 4.2 GB of vocabulary, 327,680 B of KV per token."""
    graph = CHAT.op_graph(CHAT.mappings(8), H100)
    expected = (68.46e9 + 4.20e9 + 64 * 1536 * 327680) / 8 + 2e9
    assert graph.footprint_bytes[-1] == pytest.approx(expected, rel=0.01)


def test_more_bandwidth_is_never_slower() -> None:
    graph = CHAT.op_graph(CHAT.mappings(8), H100)
    fast = Device.model_validate(H100.model_dump() | {"memory_bandwidth": "4800 GB/s"})
    assert np.all(operator_s(graph, fast)[2] <= operator_s(graph, H100)[2])
    assert total(graph, operator_s(graph, fast)[2]).max() < total(graph, operator_s(graph, H100)[2]).max()


def test_no_device_no_mapping() -> None:
    odd = CHAT.mappings(67)
    assert len(odd) == 0
    assert CHAT.op_graph(odd, H100).flops.shape[1] == 0


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
        ("model", "llama-70b", "unknown model 'llama-70b'; did you mean llama-3.1-70b"),
        ("model", {"layers": 1}, "model.shape.hidden"),
        ("model", small_shape(kv_heads=3), r"kv_heads \(3\) must divide heads \(8\)"),
        ("precision", "fp4", "'fp8' or 'bf16'"),
        ("concurrency", 0, "greater than or equal to 1"),
    ],
)
def test_bad_fields_are_named(key: str, value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        TransformerInference.model_validate(CHAT.model_dump() | {key: value})


def test_rows_of_mappings() -> None:
    both = Mappings.concatenate([CHAT.mappings(4), CHAT.mappings(8)])
    assert both.num_devices.tolist() == [4] * 3 + [8] * 4
    assert both.take(both.tensor == 1).data.tolist() == [4, 8]
    with pytest.raises(ValueError, match="must equal num_devices"):
        Mappings(both.num_devices + 1, both.tensor, both.pipeline, both.data, both.micro_batch)
