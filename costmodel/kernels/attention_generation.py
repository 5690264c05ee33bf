"""Time of decode attention: one new token a sequence attends to its cached context."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from costmodel.calibration import Calibration, numbers_of
from costmodel.hardware import BYTES_OF_PRECISION, Device, Precision
from costmodel.spec import Seconds, Spec

Floats = NDArray[np.float64]


class DecodeCurve(Spec):
    """Efficiencies of decode attention on one device and precision of the cache."""

    launch_s: Seconds = 8e-6
    """time of an operator that does nothing"""
    memory_efficiency: float = Field(default=0.8, gt=0, le=1)
    """share of the memory peak"""


def decode_curve(
    device: Device, variant: str, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[DecodeCurve, bool]:
    """The curve of a device and precision of the cache, and whether it was fitted on this very device."""
    numbers, here = numbers_of(device.name, "attention_generation", variant, calibrations)
    return DecodeCurve.model_validate(numbers or {}), here


def decode_attention_s(
    batch: ArrayLike,
    context: ArrayLike,
    heads: ArrayLike,
    kv_heads: ArrayLike,
    head_dim: ArrayLike,
    device: Device,
    *,
    precision: Precision,
    kv_precision: Precision,
    curve: DecodeCurve | None = None,
) -> Floats:
    """Seconds of one layer's attention of one new token a sequence over `context` cached tokens."""
    b, c, h, k, d = (np.asarray(x, dtype=np.float64) for x in (batch, context, heads, kv_heads, head_dim))
    device.matrix_flops_per_s(precision)
    curve = curve or decode_curve(device, kv_precision)[0]
    moved_bytes = b * d * (2 * k * c * BYTES_OF_PRECISION[kv_precision] + 2 * h * BYTES_OF_PRECISION[precision])
    return np.asarray(curve.launch_s + moved_bytes / (device.memory_bytes_per_s * curve.memory_efficiency))
