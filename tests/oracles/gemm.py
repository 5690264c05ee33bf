"""One matrix product at a time, by trying every tile and every split in plain loops. Nothing is shared with the kernel
but the tables of tiles and splits and the device's numbers."""

from math import ceil

from costmodel.hardware.device import Device, Precision
from costmodel.kernels.gemm import SPLITS, TILES, GemmCurve

BYTES = {"fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1, "int8": 1, "fp4": 9 / 16}


def gemm_s(m: int, n: int, k: int, device: Device, precision: Precision, curve: GemmCurve) -> float:
    """Latency of one product."""
    best = min(
        _product_s(m, n, k, int(rows), int(columns), int(splits), device, precision, curve)
        for rows, columns in TILES
        for splits in SPLITS
    )
    return curve.launch_s + best + (_quantization_s(m * k, device, curve) if BYTES[precision] < 2 else 0.0)


def _product_s(
    m: int, n: int, k: int, rows: int, columns: int, splits: int, device: Device, precision: Precision, curve: GemmCurve
) -> float:
    load, store = curve.cache_bytes_per_s, curve.store_bytes_per_s
    size, result_size = BYTES[precision], max(2, BYTES[precision])
    step = 128 // size
    depth = step * ceil(ceil(k / splits) / step)
    arithmetic_s = 2 * rows * columns * depth / device.flops_per_s[precision] * device.num_sm
    tile_s = max(arithmetic_s / curve.matrix_efficiency, (rows + columns) * depth * size / load)
    tile_s += rows * columns * result_size / store
    per_sm = ceil(m / rows) * ceil(n / columns) * splits / device.num_sm
    rounds = 1.0 if per_sm <= 1 else curve.wave_rounding * ceil(per_sm) + (1 - curve.wave_rounding) * per_sm
    a, b, c = m * k * size, n * k * size, m * n * result_size
    memory_s = (b + c + a * _missing(a + b + c, device)) / (device.memory_bytes_per_s * curve.memory_efficiency)
    both = (rounds * tile_s) ** curve.overlap + memory_s**curve.overlap
    together_s = float(both ** (1 / curve.overlap))
    if splits == 1:
        return together_s
    return together_s + curve.split_s + 8 * splits * m * n / (device.num_sm * load)


def _quantization_s(num_elements: int, device: Device, curve: GemmCurve) -> float:
    traffic_bytes = 5 * num_elements
    from_memory_bytes = traffic_bytes * _missing(3 * num_elements, device)
    memory_s = from_memory_bytes / (device.memory_bytes_per_s * curve.memory_efficiency)
    return curve.quantize_launch_s + traffic_bytes / curve.quantize_bytes_per_s + memory_s


def _missing(footprint_bytes: float, device: Device) -> float:
    held = (2 / 3 * device.l2_bytes) ** 4
    return footprint_bytes**4 / (footprint_bytes**4 + held)
