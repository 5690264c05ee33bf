"""Prefill attention: against the scalar oracle, and its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.hardware.device import Device, load_device
from costmodel.kernels.attention_context import PrefillCurve, prefill_attention_s, prefill_curve
from tests.oracles import attention

H100, A100 = load_device("h100"), load_device("a100")
SHAPES = {
    "batch": st.integers(1, 64),
    "tokens": st.integers(1, 3000),
    "cached": st.integers(0, 3000),
    "kv_heads": st.integers(1, 8),
    "group": st.integers(1, 8),
}


def time_s(batch=1, tokens=2048, cached=0, heads=32, kv_heads=8, device: Device = H100, **options) -> float:
    options = {"precision": "bf16", "kv_precision": "bf16"} | options
    return float(prefill_attention_s(batch, tokens, cached, heads, kv_heads, 128, device, **options))


@given(**SHAPES, causal=st.booleans(), precisions=st.sampled_from([("bf16", "bf16"), ("bf16", "fp8"), ("fp8", "fp8")]))
def test_oracle(batch, tokens, cached, kv_heads, group, causal, precisions):
    precision, kv = precisions
    curve = prefill_curve(H100, precision)[0]
    expected = attention.prefill_s(
        batch, tokens, cached, group * kv_heads, kv_heads, 64, H100, precision, kv, causal, curve
    )
    found = prefill_attention_s(
        batch, tokens, cached, group * kv_heads, kv_heads, 64, H100, precision=precision, kv_precision=kv, causal=causal
    )
    assert found == pytest.approx(expected, rel=1e-9)


@given(**SHAPES)
def test_more_work_never_takes_less(batch, tokens, cached, kv_heads, group):
    heads = kv_heads * group
    base = time_s(batch, tokens, cached, heads, kv_heads)
    assert base <= time_s(batch + 1, tokens, cached, heads, kv_heads)
    assert base <= time_s(batch, tokens + 1, cached, heads, kv_heads) * (1 + 1e-12)
    assert base <= time_s(batch, tokens, cached + 1, heads, kv_heads)
    assert base <= time_s(batch, tokens, cached, heads + kv_heads, kv_heads)
    assert base <= time_s(batch, tokens, cached, heads, kv_heads, causal=False)


def test_long_prompts_reach_the_fitted_share_of_the_peak():
    curve = PrefillCurve(launch_s=0, matrix_efficiency=0.5, memory_efficiency=1, tile_s=0)
    tokens, heads = 2**17, 64
    flops = 4 * 128 * heads * tokens * (tokens + 1) / 2
    assert time_s(tokens=tokens, heads=heads, curve=curve) == pytest.approx(flops / (0.5 * 989e12), rel=0.02)


def test_one_token_costs_the_launch_and_a_tile():
    curve = prefill_curve(H100, "bf16")[0]
    found = time_s(tokens=1, heads=1, kv_heads=1)
    assert curve.launch_s + curve.tile_s < found < 1.2 * (curve.launch_s + curve.tile_s)


def test_arguments_broadcast_to_columns():
    found = prefill_attention_s(
        np.array([[1], [2]]), [128, 256, 512], 0, 32, 8, 128, A100, precision="bf16", kv_precision="bf16"
    )
    assert found.shape == (2, 3)
    assert found[1, 2] == time_s(2, 512, device=A100)


def test_curves_of_devices():
    assert prefill_curve(H100, "bf16")[1]
    assert prefill_curve(load_device("h200"), "fp8") == (prefill_curve(H100, "fp8")[0], False)
    assert prefill_curve(H100, "bf16", ()) == (PrefillCurve(), False)


def test_bad_sizes_and_precisions():
    with pytest.raises(ValueError, match="tokens of attention is 0; give above 0"):
        time_s(tokens=0)
    with pytest.raises(ValueError, match="cached of attention is -1; give 0 or more"):
        time_s(cached=-1)
    with pytest.raises(ValueError, match="does not run fp8"):
        time_s(device=A100, precision="fp8")
