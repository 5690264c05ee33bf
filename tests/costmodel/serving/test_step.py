"""Times of one rank: parts add up, precisions act where they should, and the kernels are those of their families."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.hardware.device import Precision, load_device
from costmodel.kernels.collective import node_collective_s
from costmodel.kernels.gemm import gemm_s
from costmodel.serving.backends import ServingCurve
from costmodel.serving.step import CACHE_EFFICIENCY, TOKENS, Precisions, RankTimes, prompt_attention_s, rank_times
from costmodel.workloads.transformer.shapes import load_model

H100 = load_device("h100")
SHAPE = load_model("llama-3.1-8b")
BF16 = Precisions("bf16", "bf16", "bf16")
PLAIN = ServingCurve(matrix_slowdown=1.0, layer_s=0.0, sequence_s=0.0, eager_layer_s=0.0)


def times(tensor: int = 1, precisions: Precisions = BF16, curve: ServingCurve = PLAIN) -> RankTimes:
    return rank_times(SHAPE, H100, tensor, precisions, curve)


@pytest.mark.parametrize("tensor", [1, 2, 8])
def test_a_layer_is_its_products_its_traffic_and_two_all_reduces(tensor: int) -> None:
    """At 64 tokens, written out for Llama 3.1 8B: hidden 4096, 32 and 8 heads of 128, FFN 14336."""
    sizes = [
        (4096, (4096 + 2 * 1024) / tensor),
        (4096 / tensor, 4096),
        (4096, 2 * 14336 / tensor),
        (14336 / tensor, 4096),
    ]
    expected = sum(float(gemm_s(64, outputs, inputs, H100, "bf16")) for inputs, outputs in sizes)
    traffic = 64 * 2 * (10 * 4096 + 3 * 14336 / tensor)
    expected += traffic / (H100.memory_bytes_per_s * H100.memory_efficiency)
    expected += 2 * float(node_collective_s("all_reduce", tensor, 64 * 4096 * 2, H100))
    assert float(times(tensor).layers_at_s(64)) == pytest.approx(32 * expected)
    assert float(times(tensor).vocabulary_at_s(64)) == pytest.approx(
        float(gemm_s(64, 128256 / tensor, 4096, H100, "bf16"))
    )


def test_the_cache_is_read_at_its_share_of_the_memory_peak() -> None:
    token_bytes = 32 * 2 * 8 * 128 * 2
    assert times().cached_token_s == pytest.approx(token_bytes / (3.35e12 * CACHE_EFFICIENCY))
    assert times(8).cached_token_s == pytest.approx(times().cached_token_s / 8)
    halved = times(precisions=Precisions("bf16", "bf16", "fp8")).cached_token_s
    assert halved == pytest.approx(times().cached_token_s / 2)


def test_a_step_adds_its_parts() -> None:
    curve = ServingCurve(matrix_slowdown=1.0, layer_s=0.0, sequence_s=1e-5, eager_layer_s=0.0)
    own = times(curve=curve)
    prompt_s = float(prompt_attention_s(SHAPE, H100, 1, BF16, 1000))
    found = float(own.step_s(10, 5000, 2, 1000, prompt_s))
    expected = float(own.layers_at_s(2010) + own.vocabulary_at_s(12)) + 2 * prompt_s
    assert found == pytest.approx(expected + 5000 * own.cached_token_s + 12e-5)


def test_a_step_with_prompts_has_a_least_time() -> None:
    curve = PLAIN.model_copy(update={"eager_layer_s": 1e-2})
    own = times(8, curve=curve)
    assert float(own.step_s(4, 0, 1, 16, 0.0)) == pytest.approx(0.32)
    assert float(own.step_s(4, 0, 0, 16, 0.0)) < 0.01


def test_fp8_products_are_quicker_and_narrow_weights_alone_help_small_steps_only() -> None:
    fp8, narrow = (
        times(precisions=Precisions("fp8", "fp8", "bf16")),
        times(precisions=Precisions("fp8", "bf16", "bf16")),
    )
    wide = times()
    assert float(fp8.layers_at_s(4096)) < 0.85 * float(wide.layers_at_s(4096))
    assert float(narrow.layers_at_s(1)) < 0.75 * float(wide.layers_at_s(1))
    assert float(narrow.layers_at_s(4096)) == pytest.approx(float(wide.layers_at_s(4096)), rel=0.1)


@pytest.mark.slow
@given(st.integers(1, 4000), st.integers(1, 4000), st.sampled_from([1, 2, 4, 8]))
def test_more_tokens_never_take_less_time(first: int, second: int, tensor: int) -> None:
    low, high = sorted((first, second))
    own = times(tensor)
    assert float(own.layers_at_s(low)) <= float(own.layers_at_s(high)) * 1.02


def test_times_are_sampled_finely_enough() -> None:
    """Between two sampled numbers of tokens a straight line is off by little."""
    middle = np.round(np.sqrt(TOKENS[:-1] * TOKENS[1:]))
    own = times()
    exact = gemm_s(middle, 28672.0, 4096.0, H100, "bf16")
    line = np.interp(middle, TOKENS, gemm_s(TOKENS, 28672.0, 4096.0, H100, "bf16"))
    assert np.abs(line / exact - 1).mean() < 0.03
    assert np.all(np.diff(own.vocabulary_s) > -1e-6)


@pytest.mark.parametrize(("weights", "activations"), [("bf16", "fp8"), ("fp32", "bf16")])
def test_weights_wider_than_activations_are_refused(weights: Precision, activations: Precision) -> None:
    with pytest.raises(ValueError, match="weights"):
        Precisions(weights, activations, "bf16")


def test_experts_are_refused() -> None:
    with pytest.raises(ValueError, match="dense"):
        rank_times(SHAPE.model_copy(update={"experts": 8}), H100, 1, BF16, PLAIN)
