"""Decode attention: against the scalar oracle, and its limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costmodel.hardware.device import Device, load_device
from costmodel.kernels.attention_generation import DecodeCurve, decode_attention_s, decode_curve
from tests.oracles import attention

H100, A100 = load_device("h100"), load_device("a100")
SHAPES = {
    "batch": st.integers(1, 3000),
    "context": st.integers(1, 200_000) | st.integers(1, 600),
    "kv_heads": st.integers(1, 16),
    "group": st.integers(1, 40),
}


def time_s(batch=1, context=4096, heads=32, kv_heads=8, device: Device = H100, **options) -> float:
    options = {"precision": "bf16", "kv_precision": "bf16"} | options
    return float(decode_attention_s(batch, context, heads, kv_heads, 128, device, **options))


@pytest.mark.slow
@given(
    **SHAPES,
    kv=st.sampled_from(["bf16", "fp8"]),
    share=st.sampled_from([0.5, 1.0]),
    name=st.sampled_from(["a100", "h100"]),
)
def test_oracle(batch, context, kv_heads, group, kv, share, name):
    device = load_device(name)
    shape = (batch, context, group * kv_heads, kv_heads, 64, device)
    expected = attention.decode_s(*shape, kv, decode_curve(device)[0], share)
    found = decode_attention_s(*shape, precision="bf16", kv_precision=kv, distinct_share=share)
    assert found == pytest.approx(expected, rel=1e-9)


@given(**SHAPES)
def test_bounds(batch, context, kv_heads, group):
    heads = kv_heads * group
    base = time_s(batch, context, heads, kv_heads)
    read_s = 2 * 2 * 128 * batch * kv_heads * context / H100.memory_bytes_per_s
    assert base >= decode_curve(H100)[0].launch_s + read_s
    faster = H100.model_copy(update={"memory_bytes_per_s": 4.8e12})
    assert time_s(batch, context, heads, kv_heads, device=faster, curve=decode_curve(H100)[0]) <= base
    assert time_s(batch, context, heads, kv_heads, distinct_share=0.5) <= base


@given(batch=st.integers(1, 512), group=st.sampled_from([1, 2, 8]))
def test_long_contexts_are_bound_by_memory(batch, group):
    context, kv_heads = 2**20, 8
    read_s = 2 * 2 * 128 * batch * kv_heads * context / H100.memory_bytes_per_s
    assert time_s(batch, context, group * kv_heads, kv_heads) == pytest.approx(read_s, rel=0.45)
    one, two = (time_s(batch, n * context, group * kv_heads, kv_heads) for n in (1, 2))
    assert two == pytest.approx(2 * one, rel=0.2)


@pytest.mark.slow
@given(batch=st.integers(200, 4000), context=st.integers(1, 20_000), kv_heads=st.integers(1, 8))
def test_more_sequences_never_take_less_where_the_device_is_full(batch, context, kv_heads):
    curve = decode_curve(H100)[0]
    one, more = (time_s(n, context, 8 * kv_heads, kv_heads, curve=curve) for n in (batch, 2 * batch))
    assert more >= one - curve.split_s * 8


def test_few_sequences_and_wide_groups_take_the_masked_kernel():
    curve = DecodeCurve(grouped_block_s=1.0, masked_block_s=0.0)
    assert time_s(1, 64, curve=curve) < 1e-3
    assert time_s(64, 64, curve=curve) > 1
    assert time_s(64, 64, heads=40, kv_heads=1, curve=curve) < 1e-3
    assert time_s(64, 64, heads=8, kv_heads=8, curve=curve) < 1e-3


def test_an_fp8_cache_takes_half_the_time_of_a_long_context():
    half = time_s(64, 65536, kv_precision="fp8") / time_s(64, 65536)
    assert 0.45 < half < 0.65
    curve = DecodeCurve(fp8_block_s=1.0)
    assert time_s(kv_precision="fp8", curve=curve) > 1
    assert time_s(kv_precision="fp8", curve=curve, device=A100) < 1e-3


def test_arguments_broadcast_to_columns():
    found = decode_attention_s(
        np.array([[1], [2]]), [128, 256, 512], 32, 8, 128, A100, precision="bf16", kv_precision="bf16"
    )
    assert found.shape == (2, 3)
    assert found[1, 2] == time_s(2, 512, device=A100)


def test_curves_of_devices():
    assert decode_curve(H100)[1]
    assert decode_curve(load_device("h200")) == (decode_curve(H100)[0], False)
    like, is_fitted_here = decode_curve(load_device("b200"))
    assert like.memory_efficiency == decode_curve(H100)[0].memory_efficiency
    assert not is_fitted_here
    assert decode_curve(H100, calibrations=()) == (DecodeCurve(), False)
    with pytest.raises(ValueError, match="one curve a device; give variant 'all' instead of 'bf16'"):
        decode_curve(H100, "bf16")


def test_bad_sizes_and_precisions():
    with pytest.raises(ValueError, match="context of attention is 0; give above 0"):
        time_s(context=0)
    with pytest.raises(ValueError, match="does not run fp8"):
        time_s(device=A100, precision="fp8")
