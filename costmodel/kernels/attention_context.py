"""Time of prefill attention: new tokens attend to themselves and to what the cache already holds."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from costmodel.calibration import Calibration, numbers_of
from costmodel.hardware import BYTES_OF_PRECISION, Device, Precision
from costmodel.spec import Seconds, Spec

Floats = NDArray[np.float64]


class PrefillCurve(Spec):
    """Efficiencies of prefill attention on one device and precision."""

    launch_s: Seconds = 12e-6
    """time of an operator that does nothing"""
    matrix_efficiency: float = Field(default=0.5, gt=0, le=1)
    """share of the matrix peak inside a tile"""
    memory_efficiency: float = Field(default=0.7, gt=0, le=1)
    """share of the memory peak"""


def prefill_curve(
    device: Device, variant: str, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[PrefillCurve, bool]:
    """The curve of a device and precision, and whether it was fitted on this very device."""
    numbers, here = numbers_of(device.name, "attention_context", variant, calibrations)
    return PrefillCurve.model_validate(numbers or {}), here


def prefill_attention_s(
    batch: ArrayLike,
    tokens: ArrayLike,
    cached: ArrayLike,
    heads: ArrayLike,
    kv_heads: ArrayLike,
    head_dim: ArrayLike,
    device: Device,
    *,
    precision: Precision,
    kv_precision: Precision,
    causal: bool = True,
    curve: PrefillCurve | None = None,
) -> Floats:
    """Seconds of one layer's attention over `tokens` new tokens a sequence with `cached` before them."""
    b, s, c, h, k, d = (np.asarray(x, dtype=np.float64) for x in (batch, tokens, cached, heads, kv_heads, head_dim))
    curve = curve or prefill_curve(device, precision)[0]
    pairs = s * c + s * (s + 1) / 2 if causal else s * (s + c)
    flops = 4 * b * h * d * pairs
    moved_bytes = (
        b * d * (BYTES_OF_PRECISION[kv_precision] * 2 * k * (s + c) + BYTES_OF_PRECISION[precision] * 2 * h * s)
    )
    compute_s = flops / (device.matrix_flops_per_s(precision) * curve.matrix_efficiency)
    memory_s = moved_bytes / (device.memory_bytes_per_s * curve.memory_efficiency)
    return np.asarray(curve.launch_s + np.maximum(compute_s, memory_s))
