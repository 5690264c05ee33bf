"""Time of matrix products C[m, n] = A[m, k] B[k, n] on one device: tiles, rounds, split k, cache and memory.

The kernel library is taken to choose, among tile shapes and numbers of splits of k, what is fastest:

    t = launch + min over splits of [ p_norm(min over tiles of rounds x tile, memory) + split ] + quantization

A round gives each processor one tile; a tile waits for the slower of its arithmetic and of the operands that come
through the processor's port to the cache, then stores its result. Activations A that fit the cache are read from
there; weights B come from memory, to which C goes. Forms: roofline and waves of tiles are textbook; the numbers are
fitted by costmodel.calibrate.gemm.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from costmodel.hardware.device import BYTES_OF_PRECISION, Device, Precision, is_narrow
from costmodel.kernels.smooth import p_norm, waves
from costmodel.pricing.calibration import Calibration, default_numbers, numbers_of
from costmodel.pricing.scaling import by_cycles, by_operands, by_stream
from costmodel.spec import BytesPerSecond, Seconds, Spec

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
FAMILY = "gemm"
TILES = np.array([(64, 32), (64, 64), (64, 128), (64, 256), (128, 128), (128, 256), (256, 128), (256, 256)], float)
"""rows and columns of C that a processor computes at a time; 256 x 256 by two that share operands, in twice the time"""
SPLITS = np.array([1, 2, 3, 4, 6, 8, 16, 24], dtype=np.float64)
"""parts of k that different processors sum, shape (S,)"""
K_STEP_BYTES = 128.0
"""k is computed in steps of this many bytes of a row"""
PARTIAL_BYTES = 8.0
"""of an element of C and a split: an fp32 sum is written to the cache and read again"""
RESIDENT_SHARE = 2.0 / 3.0
"""of the cache that A may fill together with what passes by; free fits gave 0.66 on A100 and 0.62 on H100"""
RESIDENT_STEEPNESS = 4.0
"""how suddenly A leaves the cache around that size; 3 to 20 fit equally well"""
QUANTIZED_BYTES = 5.0
"""traffic of an activation that turns into fp8: read for the maximum, read again (2 bytes each), written (1)"""
QUANTIZED_RESIDENT_BYTES = 3.0
"""what an activation and its fp8 copy take of the cache"""
SCALINGS = {
    "launch_s": by_cycles,
    "split_s": by_cycles,
    "quantize_launch_s": by_cycles,
    "cache_bytes_per_s": by_operands,
    "store_bytes_per_s": by_operands,
    "quantize_bytes_per_s": by_stream,
}
"""how numbers fitted on one device carry over to another"""
CHUNK = 2048
"""rows at a time, so that tables over tiles and splits stay in the processor's own cache"""


class GemmCurve(Spec):
    """Numbers fitted on a device, apart from its peaks; those of fp8 alone are the last two.

    The defaults, for a device without a calibration, are those of an H100, rounded, some nearer to an A100.
    """

    launch_s: Seconds = 2.7e-6
    """of a product that does nothing, back to back with others"""
    matrix_efficiency: float = Field(default=0.8, gt=0, le=1)
    """share of the matrix peak inside a tile"""
    memory_efficiency: float = Field(default=0.83, gt=0, le=1)
    """share of the memory peak that long streams reach"""
    wave_rounding: float = Field(default=0.5, ge=0, le=1)
    """1 where rounds of tiles are in step, so that a nearly empty last round takes a full one's time; 0 where not"""
    overlap: float = Field(default=3.5, ge=1)
    """power of the norm that joins tiles and memory: 1 one after the other, large at the same time"""
    cache_bytes_per_s: BytesPerSecond = 118e9
    """operands that one processor gets from the cache"""
    store_bytes_per_s: BytesPerSecond = 37e9
    """results that one processor stores while it does not compute"""
    split_s: Seconds = 2.4e-6
    """of a second pass that sums the parts of a split k"""
    quantize_launch_s: Seconds = 11.8e-6
    """of the kernels that turn activations into fp8"""
    quantize_bytes_per_s: BytesPerSecond = 2.7e12
    """traffic of those kernels inside the cache"""

    def with_fused_quantization(self) -> "GemmCurve":
        """The curve without the kernels that quantize activations: engines fuse them with what comes before."""
        return self.model_copy(update={"quantize_launch_s": 0.0, "quantize_bytes_per_s": 1e18})


def gemm_curve(
    device: Device, precision: Precision, calibrations: tuple[Calibration, ...] | None = None
) -> tuple[GemmCurve, bool]:
    """Curve of a device, and whether it was fitted on this very device and precision.

    fp16 has the curve of bf16, int8 and fp4 that of fp8; a precision without one takes that of bf16, with default
    quantization.
    """
    own = variant_of(precision)
    numbers, is_fitted_here = numbers_of(device, FAMILY, own, calibrations, SCALINGS)
    if numbers is None:
        numbers, is_fitted_here = numbers_of(device, FAMILY, "bf16", calibrations, SCALINGS)[0], False
    return GemmCurve.model_validate(numbers or default_numbers(GemmCurve(), SCALINGS, device)), is_fitted_here


def variant_of(precision: Precision) -> Precision:
    """The precision whose curve serves."""
    return "fp8" if is_narrow(precision) else "bf16" if precision == "fp16" else precision


def gemm_s(
    m: ArrayLike,
    n: ArrayLike,
    k: ArrayLike,
    device: Device,
    precision: Precision,
    curve: GemmCurve | None = None,
    *,
    memory_bytes_per_s: ArrayLike | None = None,
) -> Floats:
    """Latency of one product, in the shape that m, n and k (all >= 1) broadcast to, and `memory_bytes_per_s`, peaks of
    memories in place of the device's.

    Narrow precisions include quantizing A from 16 bits. ValueError where the device does not run the precision.
    """
    chosen = gemm_curve(device, precision)[0] if curve is None else curve
    peak = device.memory_bytes_per_s if memory_bytes_per_s is None else memory_bytes_per_s
    sizes = np.broadcast_arrays(*(np.asarray(size, dtype=np.float64) for size in (m, n, k, peak)))
    columns = np.stack([size.reshape(-1, 1) for size in sizes])
    found = np.empty(columns.shape[1])
    first, of = _distinct(columns[:3, :, 0])
    busy_s = np.empty((len(first), len(SPLITS)))
    for rows in _chunks(len(first)):
        m_of, n_of, k_of = columns[:3, first[rows]]
        busy_s[rows] = _busy_s(m_of, n_of, k_of, device, precision, chosen)
    for rows in _chunks(len(found)):
        found[rows] = _product_s(busy_s[of[rows]], *columns[:, rows], device=device, precision=precision, curve=chosen)
    return found.reshape(sizes[0].shape)


def _chunks(number: int) -> Iterator[slice]:
    return (slice(start, start + CHUNK) for start in range(0, number, CHUNK))


def _distinct(columns: Floats) -> tuple[Ints, Ints]:
    """First of the rows that are alike in all columns, shape (columns, N), and which of them each row is like."""
    order = np.lexsort(columns)
    in_order = columns[:, order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (in_order[:, 1:] != in_order[:, :-1]).any(axis=0)
    of = np.empty(len(order), np.intp)
    of[order] = np.cumsum(is_new) - 1
    return order[is_new], of


def _product_s(
    busy_s: Floats, m: Floats, n: Floats, k: Floats, peak: Floats, *, device: Device, precision: Precision,
    curve: GemmCurve,
) -> Floats:  # fmt: skip
    """Shape (N,), of processors busy as `_busy_s` says, and sizes and memory peaks of shape (N, 1)."""
    memory_bytes_per_s = peak * curve.memory_efficiency
    memory_s = _memory_bytes(m, n, k, device, precision) / memory_bytes_per_s
    cache_bytes_per_s = device.num_sm * curve.cache_bytes_per_s
    split_s = np.where(SPLITS > 1, curve.split_s + PARTIAL_BYTES * SPLITS * m * n / cache_bytes_per_s, 0.0)
    product_s = curve.launch_s + (p_norm(busy_s, memory_s, curve.overlap) + split_s).min(axis=1)
    if is_narrow(precision):
        product_s = product_s + _quantization_s((m * k)[:, 0], device, curve, memory_bytes_per_s[:, 0])
    return np.asarray(product_s)


def _busy_s(m: Floats, n: Floats, k: Floats, device: Device, precision: Precision, curve: GemmCurve) -> Floats:
    """Time of the processors with their best tile, by number of splits: shape (N, S)."""
    rows, columns = TILES.T[:, :, None]
    element_bytes = BYTES_OF_PRECISION[precision]
    flops_per_s = device.matrix_flops_per_s(precision) * curve.matrix_efficiency / device.num_sm
    k_s = np.maximum(2.0 * rows * columns / flops_per_s, (rows + columns) * element_bytes / curve.cache_bytes_per_s)
    store_s = rows * columns * _result_bytes(precision) / curve.store_bytes_per_s
    steps = K_STEP_BYTES / element_bytes
    depth = np.ceil(np.ceil(k / SPLITS) / steps)[:, None, :] * steps
    num_tiles = np.ceil(m[:, :, None] / rows) * np.ceil(n[:, :, None] / columns) * SPLITS
    rounds = waves(num_tiles / device.num_sm, curve.wave_rounding)
    return np.asarray((rounds * (depth * k_s + store_s)).min(axis=1))


def _memory_bytes(m: Floats, n: Floats, k: Floats, device: Device, precision: Precision) -> Floats:
    """Traffic to memory: weights, results, and activations that the cache does not hold; shape (N, 1)."""
    element_bytes = BYTES_OF_PRECISION[precision]
    activations, others = m * k * element_bytes, n * k * element_bytes + m * n * _result_bytes(precision)
    return np.asarray(others + activations * _missing_share(activations + others, device))


def _quantization_s(num_elements: Floats, device: Device, curve: GemmCurve, memory_bytes_per_s: Floats) -> Floats:
    """Turning activations into fp8: inside the cache, and through memory what it does not hold."""
    missing = _missing_share(QUANTIZED_RESIDENT_BYTES * num_elements, device)
    byte_s = 1.0 / curve.quantize_bytes_per_s + missing / memory_bytes_per_s
    return np.asarray(curve.quantize_launch_s + QUANTIZED_BYTES * num_elements * byte_s)


def _missing_share(footprint_bytes: Floats, device: Device) -> Floats:
    """Share of data that the cache has lost before it is read again; all of it where there is no known cache."""
    return 1.0 / (1.0 + (RESIDENT_SHARE * device.l2_bytes / footprint_bytes) ** RESIDENT_STEEPNESS)


def _result_bytes(precision: Precision) -> float:
    """Of an element of C: 16 bits, fp32 alone keeps its own."""
    return max(2.0, BYTES_OF_PRECISION[precision])
