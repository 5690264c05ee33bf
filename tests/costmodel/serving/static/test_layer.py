"""Layers and passes against a scalar oracle, and against what must hold whatever the numbers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.serving.static import KernelRules, layer_s, pass_s
from costmodel.workloads.transformer.shapes import TransformerShape, load_model
from tests.costmodel.serving.static.layer_cases import engine
from tests.oracles.inference import pass_time

SHAPE = load_model("llama-3.1-8b")
GPT = load_model("gpt3-175b")
FREE = KernelRules()


@settings(max_examples=60)
@given(
    tensor=st.sampled_from([1, 2, 8, 16]),
    stages=st.sampled_from([1, 2, 4]),
    overlap=st.booleans(),
    fused=st.booleans(),
    residuals=st.booleans(),
    causal=st.booleans(),
    linked=st.booleans(),
    batch=st.integers(1, 300),
    new=st.integers(1, 3000),
    past=st.integers(0, 5000),
    name=st.sampled_from(["llama-3.1-8b", "gpt3-175b"]),
)
def test_against_the_oracle(
    tensor: int, stages: int, overlap: bool, fused: bool, residuals: bool, causal: bool, linked: bool,
    batch: int, new: int, past: int, name: str,
) -> None:  # fmt: skip
    link = 400e9 if linked else None
    rules = KernelRules(
        weights="fp8", kv_cache="fp16", activations="bf16", memory_efficiency=0.9, memory_ramp_bytes=1e7,
        matrix_efficiency=0.8, matrix_ramp_flops=2e9, all_reduce_start_s=2e-5, link_efficiency=0.7,
        layer_overhead_s=3e-6, overlaps_memory=overlap, fuses_attention=fused, fuses_residuals=residuals,
        skips_masked=causal,
    )  # fmt: skip
    plain = {
        "w": 1, "kv": 2, "a": 2, "em": 0.9, "s0": 1e7, "ec": 0.8, "f0": 2e9, "start": 2e-5, "en": 0.7, "tau": 3e-6,
        "overlap": overlap, "fused": fused, "residuals_fused": residuals, "causal": causal,
    }  # fmt: skip
    rank = {"flops": 300e12, "memory": 2e12, "tensor": tensor, "link": link, "stages": stages, "stage_link": 50e9}
    shape = load_model(name)
    found = pass_s(
        shape, engine(tensor=tensor, pipeline=stages, link_bytes_per_s=link, stage_link_bytes_per_s=50e9),
        rules, batch, new, past,
    )  # fmt: skip
    assert float(found) == pytest.approx(pass_time(shape.model_dump(), rank, plain, batch, new, past), rel=1e-12)


def test_columns_are_scalars_side_by_side() -> None:
    batch, past = np.array([1, 8, 64]), np.array([[10], [5000]])
    together = layer_s(SHAPE, engine(), FREE, batch, 1, past).total_s
    assert together.shape == (2, 3)
    alone = [[float(layer_s(SHAPE, engine(), FREE, b, 1, int(p)).total_s) for b in batch] for (p,) in past]
    np.testing.assert_allclose(together, alone, rtol=1e-14)


def test_decode_of_one_layer_is_weights_and_cache_over_bandwidth() -> None:
    """The closed form (24 d^2 / TP + 32 context d / TP) / bandwidth + overhead of a GPT at batch 8."""
    context = np.array([1024.0, 4096.0, 16384.0])
    rules = KernelRules(layer_overhead_s=89e-6)
    found = layer_s(GPT, engine(tensor=8), rules, 8, 1, context).total_s
    expected = (24 * GPT.hidden**2 / 8 + 32 * context * GPT.hidden / 8) / 2e12 + 89e-6
    np.testing.assert_allclose(found, expected, rtol=0.01)


@given(batch=st.integers(1, 200), new=st.integers(1, 2000), past=st.integers(0, 4000))
def test_more_work_takes_longer_and_more_bandwidth_less(batch: int, new: int, past: int) -> None:
    base = float(pass_s(SHAPE, engine(), FREE, batch, new, past))
    for b, n, p in ((batch + 1, new, past), (batch, new + 1, past), (batch, new, past + 1)):
        assert float(pass_s(SHAPE, engine(), FREE, b, n, p)) > base
    assert float(pass_s(SHAPE, engine(memory_bytes_per_s=4e12), FREE, batch, new, past)) <= base
    assert float(pass_s(SHAPE, engine(flops_per_s=6e14), FREE, batch, new, past)) <= base
    serial = KernelRules(overlaps_memory=False)
    assert base <= float(pass_s(SHAPE, engine(), serial, batch, new, past)) <= 2 * base


def test_breakdown_adds_up() -> None:
    time = layer_s(SHAPE, engine(tensor=8, link_bytes_per_s=450e9), KernelRules(all_reduce_start_s=1e-5), 4, 1, 100)
    parts = (time.matrices_s, time.attention_s, time.vectors_s, time.all_reduce_s, time.overhead_s)
    assert float(time.total_s) == pytest.approx(sum(float(part) for part in parts))
    assert float(time.all_reduce_s) > 2e-5
    assert float(layer_s(SHAPE, engine(tensor=8), FREE, 4, 1, 100).all_reduce_s) == 0.0


def test_experts_are_refused() -> None:
    shape = TransformerShape.model_validate(SHAPE.model_dump() | {"experts": 8, "experts_per_token": 2})
    with pytest.raises(ValueError, match="experts: only dense"):
        layer_s(shape, engine(), FREE, 1, 1, 1)
