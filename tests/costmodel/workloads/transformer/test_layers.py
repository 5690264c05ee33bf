"""Layers and what ranks hold of them, known by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.workloads.transformer.layers import LayerRun
from costmodel.workloads.transformer.shapes import TransformerShape, load_model


def run_of(shape: TransformerShape, *, tensor=1.0, expert=1.0, tokens=64.0, normed=None) -> LayerRun:
    normed = tokens if normed is None else normed
    return LayerRun(shape, *(np.array([x]) for x in (tensor, expert, tokens, normed)), 2.0, 2.0)


def test_a_product_moves_each_matrix_once() -> None:
    product = run_of(load_model("bert-large")).matrix("any", 10.0, (3.0, 5.0))
    assert (product.flops, product.memory_bytes) == (2 * 10 * 3 * 5, 2 * (3 * 5 + 10 * 3 + 10 * 5))
    assert product.sizes == (10.0, 5.0, 3.0)


def test_sequence_parallelism_divides_norms_alone() -> None:
    shape = load_model("llama-3.1-8b")
    whole, split = (run_of(shape, tensor=4.0, normed=normed).operators() for normed in (64.0, 16.0))
    for one, other in zip(whole, split, strict=True):
        ratio = 4.0 if one.name == "norm and residual" else 1.0
        np.testing.assert_allclose(one.memory_bytes, ratio * np.asarray(other.memory_bytes))
        np.testing.assert_allclose(one.flops, other.flops)


@given(tokens=st.integers(1, 5000), expert=st.sampled_from([1, 2, 8]))
def test_experts_are_read_as_often_as_tokens_visit_them(tokens: int, expert: int) -> None:
    """Between one expert and all that the rank holds, and never more than tokens can visit."""
    shape = load_model("mixtral-8x7b")
    operators = run_of(shape, expert=float(expert), tokens=float(tokens)).operators()
    up = next(o for o in operators if o.name == "expert ffn up")
    times = np.asarray(up.count, np.float64)
    weights = 4096 * 2 * 14336
    moved = float((np.asarray(up.memory_bytes) * times)[0]) - 2 * 2 * tokens * (4096 + 2 * 14336)
    visited = moved / (2 * weights)
    assert 1 - 1e-9 <= visited <= 8 / expert + 1e-9
    assert visited <= max(2 * tokens * expert, 1) + 1e-9
    assert float((np.asarray(up.flops) * times)[0]) == pytest.approx(2 * 2 * tokens * weights)


def test_the_experts_of_a_layer_are_one_kernel_a_matrix() -> None:
    """However many are visited: all of them run at once."""
    operators = run_of(load_model("qwen3-30b-a3b"), tokens=4096.0).operators()
    assert all(float(np.max(o.count)) == 1.0 for o in operators if o.name.startswith("expert"))


def test_messages_of_a_layer() -> None:
    dense, routed = load_model("llama-3.1-8b"), load_model("mixtral-8x7b")
    (reduced,) = run_of(dense, tensor=2.0).messages(2.0)
    assert (float(np.max(reduced.message_bytes)), float(np.max(reduced.count))) == (2 * 64 * 4096, 2.0)
    (none,) = run_of(dense).messages(2.0)
    assert not np.any(none.count)
    _, sent = run_of(routed, tensor=2.0, expert=4.0, normed=32.0).messages(2.0)
    assert (float(np.max(sent.message_bytes)), float(np.max(sent.count))) == (2 * 32 * 2 * 4096, 2.0)
    assert not np.any(run_of(routed, tensor=2.0).messages(2.0)[1].count)


def test_operators_of_a_mixed_model_do_the_work_of_its_layers() -> None:
    """Dense layers and layers of experts together: what a token needs, in the mean layer."""
    shape = load_model("deepseek-v3")
    operators = run_of(shape, tokens=1.0).operators()
    done = sum(float(np.max(o.flops * np.asarray(o.count))) for o in operators)
    needed = shape.forward_flops(0.0) - 2 * shape.vocabulary * shape.hidden
    assert shape.layers * done == pytest.approx(needed, rel=1e-12)


def test_the_busiest_rank_gets_its_share_of_an_uneven_load() -> None:
    even = load_model("qwen3-30b-a3b")
    uneven = even.model_copy(update={"expert_load": 1.25})
    for one, other in zip(*(run_of(s, expert=8.0).operators() for s in (even, uneven)), strict=True):
        is_loaded = one.name.startswith("expert") or one.name == "dispatch and combine"
        assert np.max(other.flops) == pytest.approx((1.25 if is_loaded else 1.0) * np.max(one.flops))
    sent = [run_of(s, expert=8.0).messages(2.0)[1] for s in (even, uneven)]
    assert float(np.max(sent[1].message_bytes)) == pytest.approx(1.25 * float(np.max(sent[0].message_bytes)))


def test_a_token_goes_once_to_each_of_its_groups() -> None:
    """DeepSeek-V3: eight experts in at most four groups, in 58 of 61 layers."""
    _, sent = run_of(load_model("deepseek-v3"), expert=64.0).messages(2.0)
    assert float(np.max(sent.message_bytes)) == 2 * 64 * 4 * 7168
    assert float(np.max(sent.count)) == pytest.approx(2 * 58 / 61)
