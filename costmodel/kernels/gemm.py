"""Time of matrix products C[m, n] = A[m, k] B[k, n] on one device: tiles, waves, split k, caches and memory."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from costmodel.calibration import Calibration, numbers_of
from costmodel.hardware import BYTES_OF_PRECISION, Device, Precision
from costmodel.kernels.smooth import p_norm, waves
from costmodel.spec import Seconds, Spec

Floats = NDArray[np.float64]
FAMILY = "gemm"
K_STEP = 64
TILES = np.array([(64, 64), (128, 64), (64, 128), (128, 128), (256, 128), (128, 256)], dtype=np.float64)
SPLITS = np.array([1, 2, 3, 4, 6, 8, 16], dtype=np.float64)
CHUNK = 4096


class GemmCurve(Spec):
    launch_s: Seconds = 1.84e-6
    matrix_efficiency: float = Field(default=0.786, gt=0, le=1)
    memory_efficiency: float = Field(default=0.813, gt=0, le=1)
    tile_s: Seconds = 1.06e-6
    cache_over_memory: float = Field(default=5.43, gt=0)
    wave_rounding: float = Field(default=0.01, ge=0, le=1)
    overlap: float = Field(default=3.39, ge=1)
    split_s: Seconds = 2.20e-6
    quantize_s: Seconds = 0.0
    quantize_per_s: float = Field(default=0.303e12, gt=0)


def gemm_curve(
    device: Device, precision: Precision, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[GemmCurve, bool]:
    variant = "bf16" if precision == "fp16" else precision
    numbers, fitted = numbers_of(device.name, FAMILY, variant, calibrations)
    if numbers is not None:
        return GemmCurve.model_validate(numbers), fitted
    if precision == "fp8":
        return GemmCurve(matrix_efficiency=0.734, quantize_s=11.7e-6), False
    return GemmCurve(), False


def gemm_s(
    m: ArrayLike, n: ArrayLike, k: ArrayLike, device: Device, precision: Precision, curve: GemmCurve | None = None
) -> Floats:
    """Latency, in the shape that m, n and k (all > 0) broadcast to."""
    c = gemm_curve(device, precision)[0] if curve is None else curve
    sizes = np.broadcast_arrays(*(np.asarray(x, dtype=np.float64) for x in (m, n, k)))
    flat = [x.reshape(-1) for x in sizes]
    chunks = [
        _chunk_s(*(x[i : i + CHUNK, None, None] for x in flat), device, precision, c)
        for i in range(0, flat[0].size, CHUNK)
    ]
    return np.concatenate([*chunks, np.empty(0)]).reshape(sizes[0].shape)


def _chunk_s(m: Floats, n: Floats, k: Floats, device: Device, precision: Precision, c: GemmCurve) -> Floats:
    es, bw = BYTES_OF_PRECISION[precision], device.memory_bytes_per_s
    sm = device.num_sm
    bm, bn = TILES[:, 0][:, None], TILES[:, 1][:, None]
    s = SPLITS[None, :]
    kk = np.ceil(np.ceil(k / s) / K_STEP) * K_STEP
    tile_s = c.tile_s + kk * np.maximum(
        2 * bm * bn / (device.matrix_flops_per_s(precision) * c.matrix_efficiency / sm),
        (bm + bn) * es / (c.cache_over_memory * bw / sm),
    )
    x = np.ceil(m / bm) * np.ceil(n / bn) * s / sm
    busy = (waves(x, c.wave_rounding) * tile_s).min(axis=1)
    bytes_s = (((m + n) * k) * es + m * n * 2)[:, :, 0] / (bw * c.memory_efficiency)
    split = np.where(SPLITS > 1, c.split_s + 8 * SPLITS * (m * n)[:, :, 0] / (2 * bw), 0.0)
    body = (p_norm(busy, bytes_s, c.overlap) + split).min(axis=1)
    quant = c.quantize_s + (m * k)[:, 0, 0] / c.quantize_per_s if precision == "fp8" else 0.0
    return np.asarray(c.launch_s + body + quant)
