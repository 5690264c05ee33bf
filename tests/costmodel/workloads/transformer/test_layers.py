"""Layers and what ranks hold of them, known by hand."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.pricing.opgraph import Operator
from costmodel.workloads.transformer.layers import LayerRun, backward
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


def totals_of(operators: list[Operator], name: str) -> list[float]:
    found = [o for o in operators if o.name.startswith(name)]
    return [float(sum(np.max(np.asarray(getattr(o, key)) * o.count) for o in found)) for key in ("flops", "kernels")]


def test_whole_experts_do_the_same_work_in_fewer_kernels() -> None:
    """Tensor ranks that hold whole experts have as many operations; their messages pass beside those of experts."""
    shape = load_model("qwen3-235b-a22b")
    split = run_of(shape, tensor=2.0, expert=16.0, tokens=4096.0, normed=2048.0)
    whole = replace(split, whole_experts=True)
    for name in ("expert ffn", "router"):
        (flops, kernels), (other_flops, other_kernels) = (totals_of(r.operators(), name) for r in (split, whole))
        assert other_flops == pytest.approx(flops)
        assert other_kernels == pytest.approx(kernels / (2 if "expert" in name else 1))
    (reduced, sent), (fewer, beside, own) = split.messages(2.0), whole.messages(2.0)
    assert float(np.max(fewer.count)) == float(np.max(reduced.count)) / 2
    assert float(np.max(beside.message_bytes)) == float(np.max(sent.message_bytes))
    assert not np.any(own.count)
    alone = replace(whole, expert=np.array([1.0])).messages(2.0)[2]
    assert (alone.dimension, float(np.max(alone.count))) == ("tensor", 1.0)


def test_dispatch_in_fp8_sends_three_quarters() -> None:
    run = run_of(load_model("deepseek-v3"), expert=64.0)
    wide, narrow = (float(np.max(r.messages(2.0)[1].message_bytes)) for r in (run, replace(run, dispatch_bytes=1.0)))
    assert narrow == 0.75 * wide


def test_products_of_experts_run_together_and_back() -> None:
    """Each of the two products of the backward pass has the operations of the forward one; routing is known by then."""
    up = next(o for o in run_of(load_model("deepseek-v3"), tokens=4096.0).operators() if o.name == "expert ffn up")
    assert up.routing == "awaited"
    for each in (up, *backward([up])):
        m, n, k = (np.asarray(size) for size in each.sizes or ())
        np.testing.assert_allclose(2 * m * n * k, up.flops)
    assert {o.routing for o in backward([up])} == {"known"}
    assert backward([replace(up, routing="none")])[0].routing == "none"


def test_operands_become_narrow_once() -> None:
    """Those of experts by casts of their own."""
    run = replace(run_of(load_model("qwen3-30b-a3b"), tokens=4096.0), cast_bytes=3.0)
    casts = {o.name: float(np.max(o.memory_bytes)) for o in run.operators() if "casts" in o.name}
    sizes = 2048 + 4096 + 2 * 512 + 4096 + 2048 + 2048 + 128
    assert casts["casts"] == pytest.approx(4096 * sizes)
    assert casts["expert casts"] == pytest.approx(4096 * 8 * (2048 + 2 * 768 + 768 + 2048))
