"""Roofline: time of a block's operators on one device, the slower of compute and memory, plus the launch."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from costmodel.hardware.device import Device, Precision
from costmodel.kernels.gemm import GemmCurve, gemm_curve, gemm_s
from costmodel.parallelism.mappings import DIMENSIONS, Floats
from costmodel.pricing.calibration import Calibration
from costmodel.pricing.efficiency import Efficiency
from costmodel.pricing.opgraph import Block, Operator, OpGraph

Calibrations = tuple[Calibration, ...]
Curves = Callable[[Precision], GemmCurve]


@dataclass(frozen=True)
class BlockPrice:
    """Of one execution of a block, columns of shape (K,); those of messages (5, K), by dimension."""

    compute_s: Floats
    """of operators that compute binds"""
    memory_s: Floats
    """of operators that memory binds"""
    flops_j: Floats
    memory_bytes: Floats
    message_count: Floats
    message_bytes: Floats
    """count x bytes"""


def operator_s(
    operator: Operator, device: Device, efficiency: Efficiency, precision: Precision, *, curves: Curves | None = None
) -> tuple[Floats, Floats, Floats]:
    """Compute, memory and total time of one execution of an operator, each broadcasting to (K,).

    time_s = max(compute_s, memory_s) + launch_s. Assumes perfect overlap of compute and memory inside an
    operator, none between operators. `curves` prices matrix products by the kernels of the device, fitted or typical.
    Source: Williams, Waterman and Patterson, Commun. ACM 52(4) (2009).
    """
    runs = operator.precision or precision
    share = efficiency.attention if operator.kind == "attention" else efficiency.matrix
    compute_s = np.asarray(operator.flops / (share * device.matrix_flops_per_s(runs)), np.float64)
    reached = operator.memory_efficiency or efficiency.memory
    memory_s = np.asarray(operator.memory_bytes / (reached * device.memory_bytes_per_s), np.float64)
    if curves is not None and operator.sizes is not None:
        return compute_s, memory_s, gemm_s(*operator.sizes, device, runs, curves(runs))
    return compute_s, memory_s, np.maximum(compute_s, memory_s) + efficiency.launch_s


def _curve(device: Device, calibrations: Calibrations | None, precision: Precision) -> GemmCurve:
    return gemm_curve(device, precision, calibrations)[0].with_fused_quantization()


def block_price(
    block: Block, graph: OpGraph, device: Device, efficiency: Efficiency, calibrations: Calibrations | None = None
) -> BlockPrice:
    """Sums over a block's rows, once per distinct shape. `calibrations` replaces the catalog's."""
    compute_s, memory_s, flops_j = (np.zeros(block.num_shapes) for _ in range(3))
    curves = partial(_curve, device, calibrations) if graph.regime == "inference" else None
    for operator in block.operators:
        compute, memory, total = operator_s(operator, device, efficiency, graph.precision, curves=curves)
        time_s = total * operator.count
        is_compute = compute >= memory
        compute_s += time_s * is_compute
        memory_s += time_s * ~is_compute
        flops_j += operator.flops * operator.count * device.energy_j_per_flop[operator.precision or graph.precision]
    counts, sizes = np.zeros((2, len(DIMENSIONS), block.num_shapes))
    for message in block.messages:
        axis = DIMENSIONS.index(message.dimension)
        counts[axis] += message.count
        sizes[axis] += message.count * np.asarray(message.message_bytes)
    return BlockPrice(compute_s, memory_s, flops_j, block.memory_bytes, counts, sizes)
