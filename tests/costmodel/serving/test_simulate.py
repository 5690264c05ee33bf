"""What users see: Little's law, limits, errors, and how results move with their inputs."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.hardware.device import load_device
from costmodel.serving import ServingResult, simulate

H100 = load_device("h100")
USUAL: dict[str, Any] = {
    "backend": "vllm", "tensor": 4, "input_tokens": 1024, "output_tokens": 256, "concurrency": 32,
}  # fmt: skip


def serve(model: str = "qwen3-32b", **changed: Any) -> ServingResult:
    return simulate(model, changed.pop("device", H100), **{**USUAL, **changed})


def test_results_have_the_shape_of_their_inputs_and_equal_rows_alone() -> None:
    many = serve(tensor=[2, 4, 8], concurrency=[[8], [64]])
    assert many.ttft_s.shape == many.step.decode_s.shape == (2, 3)
    for row, users in enumerate((8, 64)):
        for column, tensor in enumerate((2, 4, 8)):
            one = serve(tensor=tensor, concurrency=users)
            assert one.tpot_s == many.tpot_s[row, column]
            assert one.ttft_s == many.ttft_s[row, column]
            assert one.batch == many.batch[row, column]


@pytest.mark.slow
@given(
    st.sampled_from(["vllm", "trtllm", "sglang", "another"]),
    st.sampled_from([1, 2, 4, 8]),
    st.integers(1, 3000),
    st.integers(2, 400),
    st.integers(1, 100),
)
@settings(deadline=None, max_examples=60)
def test_littles_law_and_bounds(backend: str, tensor: int, inputs: int, outputs: int, users: int) -> None:
    found = serve(
        "llama-3.1-8b", backend=backend, tensor=tensor, input_tokens=inputs, output_tokens=outputs, concurrency=users
    )
    request_s = found.ttft_s + (outputs - 1) * found.tpot_s
    assert found.throughput_tokens_per_s * request_s == pytest.approx(users * outputs)
    assert 0 < found.batch <= users
    assert found.ttft_s > 0
    assert found.tpot_s > 0


def test_one_user_waits_for_the_plain_steps() -> None:
    found = serve(concurrency=1, output_tokens=2)
    assert found.tpot_s == pytest.approx(found.step.decode_s, rel=1e-3)
    assert found.ttft_s > found.step.with_prompts_s * 0.99


def test_parts_make_the_step() -> None:
    step = serve().step
    assert step.decode_s == pytest.approx(step.layers_s + step.vocabulary_s + step.kv_cache_s + step.software_s)
    assert step.with_prompts_s > step.decode_s


def test_more_users_give_more_throughput_and_slower_tokens() -> None:
    found = serve(concurrency=[1, 4, 16, 64])
    assert np.all(np.diff(found.throughput_tokens_per_s) > 0)
    assert np.all(np.diff(found.tpot_s) > 0)


def test_faster_memory_makes_tokens_faster_by_no_more_than_its_ratio() -> None:
    h200 = load_device("h200")
    old, new = serve(tensor=2, concurrency=16), serve(device=h200, tensor=2, concurrency=16)
    assert old.tpot_s / (4800 / 3350) < new.tpot_s < old.tpot_s


def test_a_start_of_all_at_once_waits_longer_than_the_steady_state() -> None:
    assert serve(requests_per_user=2).ttft_s > serve().ttft_s


def test_memory_limits_the_batch() -> None:
    found = serve(tensor=1, concurrency=48, backend="sglang")
    assert found.kv_limited
    assert found.batch < 24
    assert found.ttft_s > serve(tensor=2, concurrency=48, backend="sglang").ttft_s * 3
    assert not serve(tensor=4, concurrency=48).kv_limited
    assert serve(tensor=1, concurrency=48, backend="sglang", kv_precision="fp8").batch > found.batch


def test_a_narrow_cache_follows_the_weights_with_some_backends_alone() -> None:
    heavy: dict[str, Any] = {"input_tokens": 4096, "concurrency": 64, "tensor": 2, "precision": "fp8"}
    assert serve(backend="trtllm", **heavy).step.kv_cache_s < 0.6 * serve(backend="vllm", **heavy).step.kv_cache_s
    told = serve(backend="trtllm", kv_precision="bf16", **heavy)
    assert told.step.kv_cache_s == pytest.approx(2 * serve(backend="trtllm", **heavy).step.kv_cache_s, rel=0.1)


def test_whether_the_pair_was_calibrated_is_told() -> None:
    assert serve().is_calibrated
    assert not serve(device=load_device("h200")).is_calibrated
    assert not serve("llama-3.1-8b").is_calibrated
    assert not serve(backend="another").is_calibrated


def test_what_does_not_fit_is_refused_with_remedies() -> None:
    with pytest.raises(ValueError, match=r"tensor: each of 1 ranks lacks \d+.\d GB .* more tensor ranks than 1"):
        serve("llama-3.1-70b", tensor=1)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"tensor": 3}, "tensor: 64 heads"),
        ({"tensor": 0}, "tensor: give whole numbers from 1"),
        ({"output_tokens": 1}, "output_tokens: give whole numbers from 2"),
        ({"concurrency": 2.5}, "concurrency: give whole"),
        ({"input_tokens": float("nan")}, "input_tokens: give whole"),
        ({"precision": "fp8", "activation_precision": "bf16", "device": load_device("a100")}, "does not run fp8"),
        ({"precision": "bf16", "activation_precision": "fp8"}, "wider than activations"),
        ({"requests_per_user": 0.5}, "requests_per_user"),
    ],
)
def test_bad_input_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        serve(**changed)
