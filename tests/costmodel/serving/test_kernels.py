"""Operators inside an engine: kernels apart from it, and what it adds, by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from costmodel.hardware.device import load_device
from costmodel.kernels.attention_context import prefill_attention_s, prefill_curve
from costmodel.kernels.collective import node_collective_s
from costmodel.kernels.gemm import gemm_curve
from costmodel.pricing.opgraph import AttentionSizes, Operator
from costmodel.serving.backends import ServingCurve
from costmodel.serving.kernels import EngineKernels
from tests.oracles import gemm as oracle

H100 = load_device("h100-sxm")
CURVE = ServingCurve(matrix_slowdown=1.25, fp8_efficiency=0.5)
ENGINE = EngineKernels(H100, "bf16", CURVE)
PEAK, RATE = 450e9, 3350e9


def time_s(operator: Operator, engine: EngineKernels = ENGINE) -> Any:
    return engine.operators_s([operator])[0][2]


@pytest.mark.parametrize("precision", ["bf16", "fp8"])
def test_products_are_slower_by_the_engine(precision: Any) -> None:
    """Narrow ones reach a share of their own, and quantization is fused with what comes before."""
    own = gemm_curve(H100, precision)[0].with_fused_quantization()
    share = own.matrix_efficiency * (0.5 if precision == "fp8" else 1.0)
    curve = own.model_copy(update={"matrix_efficiency": share})
    for sizes in ((8, 4096, 4096), (4096, 8192, 4096)):
        operator = Operator("any", "matrix", 1.0, 1.0, sizes=sizes, precision=precision)
        expected = 1.25 * oracle.gemm_s(*sizes, H100, precision, curve)
        assert time_s(operator) == pytest.approx(expected, rel=1e-9)


def test_other_operators_take_the_slower_of_both() -> None:
    copied_s = 1e9 / (RATE * H100.memory_efficiency)
    assert time_s(Operator("copy", "elementwise", 0.0, 1e9)) == pytest.approx(copied_s)
    peak_s = 1e12 / (gemm_curve(H100, "bf16")[0].matrix_efficiency * H100.matrix_flops_per_s("bf16"))
    grouped = Operator("experts", "matrix", np.array([1e12, 1.0]), 1e9)
    np.testing.assert_allclose(time_s(grouped), [1.25 * peak_s, copied_s])


def test_each_operator_waits_once_for_a_far_memory() -> None:
    far = replace(ENGINE, device=H100.model_copy(update={"first_byte_s": 2e-6}))
    sizes = AttentionSizes(4.0, 1.0, 1000.0, 32.0, 8.0, 128.0, "bf16")
    for operator in (
        Operator("copy", "elementwise", 0.0, 1e6),
        Operator("product", "matrix", 1.0, 1.0, sizes=(8, 4096, 4096)),
        Operator("attention", "attention", 1.0, 1.0, attention=sizes),
    ):
        assert time_s(operator, far) - time_s(operator) == pytest.approx(2e-6)


@pytest.mark.parametrize(("kv", "element_bytes"), [("bf16", 2), ("fp8", 1)])
def test_running_requests_read_their_caches(kv: Any, element_bytes: int) -> None:
    """Keys and values of 4 requests with 1000 tokens, 8 heads of 128, at nine tenths of the peak."""
    sizes = AttentionSizes(4.0, 1.0, 1000.0, 32.0, 8.0, 128.0, kv)
    expected = 2 * element_bytes * 4 * 1000 * 8 * 128 / (0.9 * RATE)
    flops = 4 * 4 * 1000 * 32 * 128
    assert time_s(Operator("attention", "attention", flops, 1e15, attention=sizes)) == pytest.approx(expected)


def test_latents_are_read_or_multiplied_whichever_is_slower() -> None:
    """128 heads over one latent: 4 requests, 1000 tokens each."""
    sizes = AttentionSizes(4.0, 1.0, 1000.0, 128.0, 1.0, 544.0, "bf16")
    read_s = 2 * 2 * 4 * 1000 * 544 / (0.9 * RATE)
    assert time_s(Operator("attention", "attention", 0.0, 0.0, attention=sizes)) == pytest.approx(read_s)
    peak = prefill_curve(H100, "bf16")[0].matrix_efficiency * H100.matrix_flops_per_s("bf16")
    assert time_s(Operator("attention", "attention", 1e12, 0.0, attention=sizes)) == pytest.approx(1e12 / peak)


def test_products_of_experts_run_as_one_as_wide_as_all() -> None:
    """Eight experts of 12 rows each: as many tiles and weights as one product of 12 rows with eight times the columns;
    rounds of 132 processors are those of all."""
    operator = Operator("any", "matrix", 1.0, 1.0, sizes=(96.0, 2048.0, 4096.0), products=8.0, routing="awaited")
    own = gemm_curve(H100, "bf16")[0].with_fused_quantization()
    assert time_s(operator) == pytest.approx(1.25 * oracle.gemm_s(12, 8 * 2048, 4096, H100, "bf16", own), rel=1e-9)
    few = Operator("any", "matrix", 1.0, 1.0, sizes=(4.0, 2048.0, 4096.0), products=8.0, routing="awaited")
    assert time_s(few) == pytest.approx(1.25 * oracle.gemm_s(1, 8 * 2048, 4096, H100, "bf16", own), rel=1e-9)


def test_prompts_take_the_kernel_once_each() -> None:
    sizes = AttentionSizes(np.array([1.0, 3.0]), 2048.0, 0.0, 32.0, 8.0, 128.0, "bf16")
    one_s = prefill_attention_s(1, 2048, 0, 32, 8, 128, H100, precision="bf16", kv_precision="bf16")
    found = time_s(Operator("attention", "attention", 0.0, 0.0, attention=sizes))
    np.testing.assert_allclose(found, [one_s, 3 * one_s])


def test_all_reduces_over_links_of_the_device_and_of_others() -> None:
    """Row by row whatever stands beside it; a large buffer's time grows as the time of a byte on its links."""
    ranks, size = np.array([2.0, 4.0, 8.0, 8.0]), np.array([1e4, 1e6, 1e9, 1e9])
    rates = np.array([PEAK, PEAK, PEAK / 2, PEAK / 4])
    found = ENGINE.all_reduce_s(ranks, size, rates)
    alone = [ENGINE.all_reduce_s(*(column[[row]] for column in (ranks, size, rates)))[0] for row in range(4)]
    np.testing.assert_array_equal(found, alone)
    np.testing.assert_allclose(found[:2], node_collective_s("all_reduce", ranks[:2], size[:2], H100))
    own_s = float(node_collective_s("all_reduce", 8, 1e9, H100))
    assert found[3] - found[2] == pytest.approx(2 * (found[2] - own_s), rel=0.01)
    assert own_s < found[2] < 2 * own_s
