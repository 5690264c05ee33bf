"""Shapes of transformers, and what each rank holds."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.workloads.transformer.shapes import (
    TransformerShape,
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
    assert tensor_degrees(load_model("llama-3.1-70b"), 96) == [1, 2, 4, 8, 16, 32]
    assert tensor_degrees(load_model("bert-large"), 6) == [1, 2]


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
    "bert-base": 0.11e9, "bert-large": 0.335e9,
}  # fmt: skip


@pytest.mark.parametrize("name", model_names())
def test_parameter_counts_match_the_published_sizes(name: str) -> None:
    if name not in PUBLISHED_SIZES:
        pytest.skip(f"no published size of {name} is listed here")
    assert load_model(name).num_parameters == pytest.approx(PUBLISHED_SIZES[name], rel=0.02)
    assert load_model(name).source
