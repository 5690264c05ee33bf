"""Shapes of transformers, and what each rank holds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.workloads.transformer.shapes import (
    TransformerShape,
    attention_core,
    kv_dim,
    layer_parameters,
    load_model,
    model_names,
    tensor_degrees,
)
from tests.costmodel.strategies import shapes
from tests.oracles.transformer import Rank


@given(fields=shapes(), tensor=st.sampled_from([1, 2, 4]), expert=st.sampled_from([1, 2, 4]))
def test_parameters_of_a_rank(fields: dict[str, Any], tensor: int, expert: int) -> None:
    shape = TransformerShape.model_validate(fields)
    rank = Rank(shape, tensor, expert, 1, 1, 2, 2)
    found = layer_parameters(shape, np.array([float(tensor)]), float(expert) if shape.experts > 1 else 1.0)
    assert found[0] == pytest.approx(rank.whole_parameters() + rank.expert_parameters())


def test_tensor_ranks_hold_whole_heads() -> None:
    assert tensor_degrees(load_model("llama-3.1-70b")) == [1, 2, 4, 8, 16, 32]
    assert tensor_degrees(load_model("bert-large")) == [1, 2, 4, 8, 16]


def test_a_shared_expert_needs_others() -> None:
    """A dense network has none: its parameters would be held and never used."""
    shape = load_model("llama-3.1-8b").model_dump()
    with pytest.raises(ValueError, match="shared_ffn"):
        TransformerShape.model_validate(shape | {"shared_ffn": 64})


PUBLISHED_SIZES = {
    "llama-3.1-8b": 8.03e9, "llama-3.1-70b": 70.6e9, "llama-3.1-405b": 405e9, "llama-2-7b": 6.74e9,
    "llama-2-13b": 13.0e9, "llama-2-70b": 69.0e9, "llama-3.2-1b": 1.24e9, "llama-3.2-3b": 3.21e9,
    "qwen3-8b": 8.19e9, "qwen3-14b": 14.8e9, "qwen3-32b": 32.8e9, "qwen2.5-72b": 72.7e9,
    "qwen3-30b-a3b": 30.5e9, "qwen3-235b-a22b": 235e9, "mixtral-8x7b": 46.7e9, "mixtral-8x22b": 140.6e9,
    "gpt3-22b": 22e9, "gpt3-175b": 175e9, "gpt3-530b": 530e9, "gpt3-1t": 1.008e12,
    "bert-base": 0.11e9, "bert-large": 0.335e9, "deepseek-v3": 671e9, "deepseek-v2": 236e9, "kimi-k2": 1.04e12,
}  # fmt: skip


@pytest.mark.parametrize("name", model_names())
def test_parameter_counts_match_the_published_sizes(name: str) -> None:
    if name not in PUBLISHED_SIZES:
        pytest.skip(f"no published size of {name} is listed here")
    assert load_model(name).num_parameters == pytest.approx(PUBLISHED_SIZES[name], rel=0.02)
    assert load_model(name).source


@pytest.mark.parametrize(
    ("name", "active"), [("deepseek-v3", 37e9), ("deepseek-v2", 21e9), ("kimi-k2", 32e9), ("qwen3-235b-a22b", 22e9)]
)
def test_parameters_that_a_token_meets(name: str, active: float) -> None:
    assert load_model(name).num_active_parameters == pytest.approx(active, rel=0.03)


def test_deepseek_v3_layer_by_layer() -> None:
    """Every matrix of the published weights by its name and size, and the norms."""
    hidden, heads = 7168, 128
    queries = hidden * 1536 + 1536 + 1536 * heads * (128 + 64)  # q_a_proj, q_a_layernorm, q_b_proj
    latent = hidden * (512 + 64) + 512 + 512 * heads * (128 + 128)  # kv_a_proj_with_mqa, kv_a_layernorm, kv_b_proj
    attention = queries + latent + heads * 128 * hidden + 2 * hidden
    total = active = 2 * 129280 * hidden + hidden
    for layer in range(61):
        if layer < 3:
            total, active = total + attention + 3 * hidden * 18432, active + attention + 3 * hidden * 18432
        else:
            total += attention + 257 * 3 * hidden * 2048 + 256 * hidden
            active += attention + 9 * 3 * hidden * 2048 + 256 * hidden
    shape = load_model("deepseek-r1")
    assert (shape.num_parameters, shape.num_active_parameters) == (total, active)
    norms = 61 * (2 * hidden + 1536 + 512) + hidden
    assert shape.forward_flops(0.0) == pytest.approx(2 * (active - norms - 129280 * hidden), rel=1e-12)
    seen = shape.forward_flops(1000.0) - shape.forward_flops(0.0)
    assert seen == pytest.approx(61 * 1000 * 2 * heads * (192 + 128), rel=1e-12)


@pytest.mark.parametrize(("name", "kilobytes"), [("deepseek-v3", 70.272), ("llama-3.1-405b", 516.096)])
def test_cache_of_a_token(name: str, kilobytes: float) -> None:
    """In bf16: Zhao et al. 2025 (arXiv:2505.09343), table 1."""
    shape = load_model(name)
    assert 2 * 2 * shape.layers * float(kv_dim(shape, 1.0)) / 1e3 == pytest.approx(kilobytes)


def test_each_rank_holds_the_whole_latent() -> None:
    shape = load_model("deepseek-v3")
    assert kv_dim(shape, np.array([1.0, 8.0])).tolist() == [288.0, 288.0]
    heads, kv_heads, width = attention_core(shape, 8.0, is_cached=True)
    assert heads * 4 * width == pytest.approx(16 * 2 * (576 + 512))
    assert 2 * kv_heads * width == pytest.approx(576)
    heads, kv_heads, width = attention_core(shape, 8.0, is_cached=False)
    assert (heads, float(kv_heads), width) == (16, 16, (192 + 128) / 2)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"dense_layers": 61}, "dense_layers: 61 of 61 layers"),
        ({"dense_ffn": 0}, "dense_layers: 3 of 61 layers need a dense_ffn"),
        ({"expert_groups": 7}, "expert_groups"),
        ({"groups_per_token": 9}, "groups_per_token"),
        ({"kv_rank": 0}, "give kv_rank too"),
        ({"expert_load": 0.5}, "greater than or equal to 1"),
    ],
)
def test_what_cannot_be_is_named(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TransformerShape.model_validate(load_model("deepseek-v3").model_dump() | fields)
