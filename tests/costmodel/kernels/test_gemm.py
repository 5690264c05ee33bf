"""Matrix products: against a scalar oracle, limits, monotonicity, and which curve serves."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costmodel.hardware.device import Device, Precision, load_device
from costmodel.kernels.gemm import CHUNK, GemmCurve, gemm_curve, gemm_s
from costmodel.kernels.smooth import p_norm, waves
from costmodel.pricing.calibration import Calibration
from tests.oracles import gemm as oracle

H100, A100 = load_device("h100-sxm"), load_device("a100-sxm")
UNKNOWN = A100.model_copy(update={"name": "unheard-of", "num_sm": 1, "l2_bytes": 0.0})
ROUNDING = 1e-9

sizes = st.integers(1, 70000)
cases = st.sampled_from([(device, precision) for device in (H100, A100, UNKNOWN) for precision in device.flops_per_s])


@pytest.mark.slow
@given(case=cases, m=sizes, n=sizes, k=sizes)
@settings(max_examples=200, deadline=None)
def test_agrees_with_trying_every_tile_and_split(case: tuple[Device, Precision], m: int, n: int, k: int) -> None:
    device, precision = case
    curve = gemm_curve(device, precision)[0]
    assert gemm_s(m, n, k, device, precision) == pytest.approx(
        oracle.gemm_s(m, n, k, device, precision, curve), rel=1e-9
    )


@pytest.mark.slow
@given(case=cases, m=sizes, n=sizes, k=sizes, more=st.integers(1, 20000), axis=st.integers(0, 2))
@settings(max_examples=200, deadline=None)
def test_larger_products_never_take_less(
    case: tuple[Device, Precision], m: int, n: int, k: int, more: int, axis: int
) -> None:
    device, precision = case
    small = [m, n, k]
    large = [size + more * (place == axis) for place, size in enumerate(small)]
    assert gemm_s(*large, device, precision) >= gemm_s(*small, device, precision) * (1 - ROUNDING)


@pytest.mark.slow
@given(case=cases, m=sizes, n=sizes, k=sizes, factor=st.floats(1.0, 8.0))
@settings(max_examples=100, deadline=None)
def test_faster_devices_never_take_more(case: tuple[Device, Precision], m: int, n: int, k: int, factor: float) -> None:
    device, precision = case
    now = gemm_s(m, n, k, device, precision)
    for peaks in (
        {"memory_bytes_per_s": factor * device.memory_bytes_per_s},
        {"flops_per_s": {key: factor * value for key, value in device.flops_per_s.items()}},
        {"l2_bytes": factor * device.l2_bytes},
    ):
        assert gemm_s(m, n, k, device.model_copy(update=peaks), precision) <= now * (1 + ROUNDING)


@given(case=cases, m=sizes, n=sizes, k=sizes)
@settings(max_examples=100, deadline=None)
def test_no_product_beats_its_peaks(case: tuple[Device, Precision], m: int, n: int, k: int) -> None:
    device, precision = case
    element_bytes = oracle.BYTES[precision]
    found = float(gemm_s(m, n, k, device, precision))
    assert found > 2.0 * m * n * k / device.flops_per_s[precision]
    assert found > element_bytes * n * k / device.memory_bytes_per_s


def test_limits() -> None:
    curve = gemm_curve(H100, "bf16")[0]
    large = float(gemm_s(16384, 16384, 16384, H100, "bf16"))
    assert 2 * 16384**3 / large == pytest.approx(curve.matrix_efficiency * H100.flops_per_s["bf16"], rel=0.05)
    narrow = float(gemm_s(1, 65536, 65536, H100, "bf16"))
    assert 2 * 65536**2 / narrow == pytest.approx(curve.memory_efficiency * H100.memory_bytes_per_s, rel=0.05)
    smallest = float(gemm_s(1, 1, 1, H100, "bf16"))
    assert curve.launch_s < smallest < 1.2 * curve.launch_s


def test_fp8_pays_for_quantizing_activations_and_not_for_weights() -> None:
    curve = gemm_curve(H100, "fp8")[0]
    tall, wide = gemm_s([65536, 64], [64, 65536], 8192, H100, "fp8", curve)
    assert tall > 3 * wide
    free = curve.model_copy(update={"quantize_launch_s": 0.0, "quantize_bytes_per_s": 1e18})
    assert gemm_s(64, 64, 64, H100, "fp8", curve) - gemm_s(64, 64, 64, H100, "fp8", free) == pytest.approx(
        curve.quantize_launch_s, rel=0.01
    )


def test_activations_that_fit_the_cache_are_not_read_from_memory() -> None:
    without = H100.model_copy(update={"l2_bytes": 0.0})
    few, many = ([3072, 32, 4096], [65536, 32, 8192])
    assert gemm_s(*few, H100, "bf16") < 0.8 * gemm_s(*few, without, "bf16")
    assert gemm_s(*many, H100, "bf16") == pytest.approx(gemm_s(*many, without, "bf16"), rel=0.01)


def test_curves_by_device_and_precision() -> None:
    assert gemm_curve(H100, "bf16")[1]
    assert gemm_curve(H100, "fp8")[1]
    assert gemm_curve(A100, "bf16")[1]
    assert gemm_curve(A100, "fp16") == gemm_curve(A100, "bf16")
    assert gemm_curve(A100, "fp32") == (gemm_curve(A100, "bf16")[0], False)
    assert gemm_curve(load_device("h200-sxm"), "fp8") == (gemm_curve(H100, "fp8")[0], False)
    typical, is_fitted_here = gemm_curve(UNKNOWN, "bf16")
    assert typical.matrix_efficiency == GemmCurve().matrix_efficiency
    assert not is_fitted_here


def test_a_calibration_replaces_the_catalog() -> None:
    own = Calibration(device="h100-sxm", families={"gemm": {"bf16": {"launch_s": 1e-3}}}, source="made up")
    curve, is_fitted_here = gemm_curve(H100, "bf16", (own,))
    assert is_fitted_here
    assert curve == GemmCurve(launch_s=1e-3)
    assert gemm_s(1, 1, 1, H100, "bf16", curve) > 1e-3


def test_a_precision_that_does_not_run_is_refused() -> None:
    with pytest.raises(ValueError, match="does not run fp8"):
        gemm_s(8, 8, 8, A100, "fp8")


def test_arguments_broadcast_over_chunks() -> None:
    m = np.arange(1, 2 * CHUNK + 5, dtype=np.float64)
    found = gemm_s(m[:, None], [64.0, 4096.0], 512.0, H100, "bf16")
    assert found.shape == (len(m), 2)
    assert found[-1, 1] == gemm_s(m[-1], 4096.0, 512.0, H100, "bf16")
    assert gemm_s([], 64.0, 64.0, H100, "bf16").shape == (0,)


def test_many_rows_are_quick() -> None:
    generator = np.random.default_rng(0)
    m, n, k = generator.integers(1, 10000, (3, 100_000))
    start = time.process_time()
    gemm_s(m, n, k, H100, "fp8")
    assert time.process_time() - start < 5.0


@given(a=st.floats(0, 1e6), b=st.floats(0, 1e6), p=st.floats(1, 20))
def test_p_norm_lies_between_the_larger_one_and_the_sum(a: float, b: float, p: float) -> None:
    found = float(p_norm(a, b, p))
    assert max(a, b) * (1 - ROUNDING) <= found <= (a + b) * (1 + ROUNDING)
    assert float(p_norm(a, b, 1.0)) == pytest.approx(a + b)


@given(x=st.floats(0, 1e6), a=st.floats(0, 1))
def test_waves_lie_between_the_share_and_whole_rounds(x: float, a: float) -> None:
    found = float(waves(x, a))
    assert max(x, 1.0) * (1 - ROUNDING) <= found <= max(np.ceil(x), 1.0) * (1 + ROUNDING)
