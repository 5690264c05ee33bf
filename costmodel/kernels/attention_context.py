"""Time of prefill attention: new tokens attend to themselves and to what the cache already holds.

Two kernels. The first rotates queries and keys and writes the cache: a stream through memory. The second hands out
tiles of query rows over the multiprocessors; each tile runs over the keys that its last row sees, so that causal
tiles differ in length, and rounds of tiles are in step.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from costmodel.hardware.device import BYTES_OF_PRECISION, Device, Precision
from costmodel.kernels.attention_shape import columns
from costmodel.kernels.smooth import waves
from costmodel.pricing.calibration import Calibration, numbers_of
from costmodel.spec import Seconds, Spec

Floats = NDArray[np.float64]
FAMILY = "attention_context"
QUERY_TILE, KEY_TILE = 128, 64
"""rows and columns of a tile; of the shapes with 64, 128 and 256 the ones that fit A100 and H100 tables best"""
ACTIVATION_BYTES = 2.0
"""of an element of the projections that the first kernel reads (bf16)"""


class PrefillCurve(Spec):
    """Efficiencies of prefill attention on one device and precision; defaults are near those of an H100 in bf16."""

    launch_s: Seconds = 12e-6
    """both kernels, doing nothing"""
    matrix_efficiency: float = Field(default=0.55, gt=0, le=1)
    """share of the matrix peak inside a tile, softmax included"""
    memory_efficiency: float = Field(default=0.9, gt=0, le=1)
    """share of the memory peak of streams before, into and out of the tiles; none overlaps with arithmetic"""
    tile_s: Seconds = 1.5e-6
    """start and end of a tile of query rows"""


def variant_of(precision: Precision) -> str:
    """Name of the curve that serves a precision of the arithmetic."""
    return "fp8" if precision == "fp8" else "bf16"


def prefill_curve(
    device: Device, variant: str, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[PrefillCurve, bool]:
    """The curve of a device and variant ("bf16", "fp8"), and whether it was fitted on this very device."""
    numbers, is_fitted_here = numbers_of(device, FAMILY, variant, calibrations)
    return PrefillCurve() if numbers is None else PrefillCurve.model_validate(numbers), is_fitted_here


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
    memory_bytes_per_s: ArrayLike | None = None,
) -> Floats:
    """Seconds of one layer's attention, projections excluded, in the shape that the arguments broadcast to.

    Each of `batch` sequences has `tokens` new tokens (> 0) after `cached` ones (>= 0) that the cache holds. The
    arithmetic is in `precision`, the cache in `kv_precision`. Without `causal` each token sees all others.
    No measured row has cached tokens: there the time follows from the shape alone. `memory_bytes_per_s` are peaks of
    memories in place of the device's.
    """
    b, s, c, h, k, d = columns(
        batch=batch, tokens=tokens, cached=cached, heads=heads, kv_heads=kv_heads, head_dim=head_dim
    )
    curve = prefill_curve(device, variant_of(precision))[0] if curve is None else curve
    element, kv_element = BYTES_OF_PRECISION[precision], BYTES_OF_PRECISION[kv_precision]
    first_bytes = b * s * d * ((h + 2 * k) * ACTIVATION_BYTES + h * element + 2 * k * kv_element)
    second_bytes = b * d * (2 * h * s * element + 2 * k * (s + c) * kv_element)
    peak = device.memory_bytes_per_s if memory_bytes_per_s is None else np.asarray(memory_bytes_per_s, np.float64)
    stream_s = (first_bytes + second_bytes) / (peak * curve.memory_efficiency)
    sm_flops_per_s = device.matrix_flops_per_s(precision) * curve.matrix_efficiency / device.num_sm
    block_s = 4 * QUERY_TILE * KEY_TILE * d / sm_flops_per_s
    return np.asarray(curve.launch_s + stream_s + _tiles_s(b * h, s, c, causal, block_s, curve.tile_s, device.num_sm))


def _tiles_s(
    heads: Floats, tokens: Floats, cached: Floats, causal: bool, block_s: Floats, tile_s: float, num_sm: int
) -> Floats:
    """All tiles of `heads` heads of all sequences: rounds of mean length, and no less than the longest tile."""
    num_tiles = np.ceil(tokens / QUERY_TILE)
    longest = np.ceil((tokens + cached) / KEY_TILE)
    mean = _causal_blocks(tokens, cached) / num_tiles if causal else longest
    rounds = waves(heads * num_tiles / num_sm, 1.0)
    return np.maximum(rounds * (mean * block_s + tile_s), longest * block_s + tile_s)


def _causal_blocks(tokens: Floats, cached: Floats) -> Floats:
    """Tiles of keys that all tiles of query rows of one head run over.

    Query tile i = 1..n but the last sees the keys before its end, ceil((cached + 128 i) / 64); the last sees all.
    """
    num_before = np.ceil(tokens / QUERY_TILE) - 1
    per_tile = QUERY_TILE // KEY_TILE
    before = num_before * np.ceil(cached / KEY_TILE) + per_tile * num_before * (num_before + 1) / 2
    return np.asarray(before + np.ceil((tokens + cached) / KEY_TILE))
