"""Roofline: time of a block's operators on one device, the slower of compute and memory, plus the launch."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from costmodel.hardware.device import Device, Precision, is_narrow
from costmodel.kernels.gemm import gemm_curve, gemm_s
from costmodel.parallelism.mappings import DIMENSIONS, Floats
from costmodel.pricing.calibration import Calibration
from costmodel.pricing.efficiency import Efficiency
from costmodel.pricing.opgraph import Block, Operator, OpGraph
from costmodel.pricing.products import Products, Sizes, products_of

Calibrations = tuple[Calibration, ...]
MatrixTimes = Callable[[Precision, Sizes, Floats | float, Floats | float], Floats]
"""time of products of such sizes beside memories of such peaks, s, with such launches unless fitted alone"""


@dataclass(frozen=True)
class BlockPrice:
    """Of one execution of a block, columns of shape (K,)."""

    compute_s: Floats
    """of operators that compute binds"""
    memory_s: Floats
    """of operators that memory binds"""
    flops_j: Floats
    memory_bytes: Floats
    messages: dict[int, tuple[Floats, Floats, Floats]]
    """count, count x parts and count x bytes of messages, by axis of DIMENSIONS: those along which anything is sent"""


def operator_s(
    operator: Operator,
    device: Device,
    efficiency: Efficiency,
    precision: Precision,
    *,
    matrix_s: MatrixTimes | None = None,
    memory_bytes_per_s: Floats | float | None = None,
    launch_s: Floats | float | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Compute, memory and total time of one execution of an operator, each broadcasting to (K,).

    time_s = max(compute_s, memory_s) + launch_s. Assumes perfect overlap of compute and memory inside an operator, none
    between operators. `matrix_s` prices matrix products by the kernels of the device, their launch included; those that
    run together as one as large, but each has operands of its own to move. `memory_bytes_per_s` and `launch_s`: peaks
    of memories and launches in place of the device's, (K,).
    Source: Williams, Waterman and Patterson, Commun. ACM 52(4) (2009).
    """
    runs = operator.precision or precision
    share = efficiency.attention if operator.kind == "attention" else efficiency.matrix
    compute_s = np.asarray(operator.flops / (share * device.matrix_flops_per_s(runs)), np.float64)
    reached = operator.memory_efficiency or efficiency.memory
    peak = device.memory_bytes_per_s if memory_bytes_per_s is None else memory_bytes_per_s
    memory_s = np.asarray(operator.memory_bytes / (reached * peak), np.float64)
    launch_s = efficiency.launch_s if launch_s is None else launch_s
    if matrix_s is not None and operator.sizes is not None:
        moved_s = np.where(np.asarray(operator.products) > 1, memory_s, 0.0)
        return compute_s, memory_s, np.maximum(matrix_s(runs, operator.sizes, peak, launch_s), moved_s)
    return compute_s, memory_s, np.maximum(compute_s, memory_s) + launch_s


def matrix_times(
    graph: OpGraph,
    device: Device,
    efficiency: Efficiency,
    calibrations: Calibrations | None,
    blocks: Iterable[Block] = (),
) -> MatrixTimes:
    """Kernels of engines as they were measured alone; those of training reach less, and of these the products of the
    given blocks are found at once."""

    def alone(precision: Precision, sizes: Sizes, peak: Floats | float, _: Floats | float) -> Floats:
        curve = gemm_curve(device, precision, calibrations)[0].with_fused_quantization()
        return gemm_s(*sizes, device, precision, curve, memory_bytes_per_s=peak)

    @cache
    def products(precision: Precision) -> Products:
        most = graph.narrow_share if is_narrow(precision) else 1.0
        return products_of(device, precision, min(efficiency.matrix, most), calibrations)

    if graph.regime == "inference":
        return alone
    found = _found_together(graph, device, blocks, products)

    def in_training(precision: Precision, sizes: Sizes, _: Floats | float, launch_s: Floats | float) -> Floats:
        product_s = found.get(precision, {}).get(id(sizes))
        return (products(precision).seconds(*sizes) if product_s is None else product_s) + launch_s

    return in_training


def _found_together(
    graph: OpGraph, device: Device, blocks: Iterable[Block], products: Callable[[Precision], Products]
) -> dict[Precision, dict[int, Floats]]:
    """Times of all products of blocks by precision and the id of their sizes."""
    asked: dict[Precision, dict[int, tuple[Sizes, Floats | float]]] = {}
    for block in blocks:
        peak = _memory_of(graph, block, device)
        for each in block.operators:
            if each.sizes is not None:
                asked.setdefault(each.precision or graph.precision, {})[id(each.sizes)] = each.sizes, peak
    found: dict[Precision, dict[int, Floats]] = {}
    for precision, some in asked.items():
        own, (sizes, peaks) = products(precision), zip(*some.values(), strict=True)
        is_one = graph.memory_bytes_per_s is None
        times = own.seconds_of_all(sizes) if is_one else own.seconds_beside(sizes, peaks)
        found[precision] = dict(zip(some, times, strict=True))
    return found


def _memory_of(graph: OpGraph, block: Block, device: Device) -> Floats | float:
    """Peak of the memory of each shape of a block, (K,), or of the device."""
    peak = graph.memory_bytes_per_s
    return device.memory_bytes_per_s if peak is None else _by_shape(block, peak)


def _by_shape(block: Block, column: Floats) -> Floats:
    """What rows of each shape have in a column of shape (M,), (K,)."""
    found: Floats = np.empty(block.num_shapes)
    found[block.shape] = column
    return found


def block_price(
    block: Block, graph: OpGraph, device: Device, efficiency: Efficiency, calibrations: Calibrations | None = None
) -> BlockPrice:
    """Sums over a block's rows, once per distinct shape. `calibrations` replaces the catalog's."""
    return next(block_prices([block], graph, device, efficiency, calibrations))


def block_prices(
    blocks: Iterable[Block],
    graph: OpGraph,
    device: Device,
    efficiency: Efficiency,
    calibrations: Calibrations | None = None,
) -> Iterator[BlockPrice]:
    """The same of several blocks of a graph; those that execute the same are priced once."""
    started = efficiency.model_copy(update={"launch_s": 0.0}) if graph.runs_ahead else efficiency
    blocks = list(blocks)
    matrix_s = matrix_times(graph, device, started, calibrations, () if graph.kernels else blocks)
    launch_s = efficiency.launch_s
    known: dict[tuple[int, ...], BlockPrice] = {}
    for block in blocks:
        parts = *map(id, block.operators), 0, *map(id, block.messages), id(block.shape)
        if parts not in known:
            known[parts] = _block_price(block, graph, device, started, matrix_s, launch_s)
        yield known[parts]


def _block_price(
    block: Block, graph: OpGraph, device: Device, started: Efficiency, matrix_s: MatrixTimes, launch_s: float
) -> BlockPrice:
    """`launch_s` is the host's, who starts a kernel; `started` is without it where the host runs ahead."""
    compute_s, memory_s, flops_j, host_s, routed_s, awaited_s, serial_s = np.zeros((7, block.num_shapes))
    if graph.kernels:
        times = graph.kernels.operators_s(block.operators)
    else:
        peak = _memory_of(graph, block, device)
        waits_s = None if graph.launch_s is None else _by_shape(block, graph.launch_s)
        times = [
            operator_s(
                each, device, started, graph.precision, matrix_s=matrix_s, memory_bytes_per_s=peak, launch_s=waits_s
            )
            for each in block.operators
        ]
    for operator, (compute, memory, total) in zip(block.operators, times, strict=True):
        time_s = total * operator.count
        is_compute = compute >= memory
        compute_s += time_s * is_compute
        memory_s += time_s * ~is_compute
        flops_j += operator.flops * operator.count * device.energy_j_per_flop[operator.precision or graph.precision]
        started_s = operator.count * np.asarray(operator.kernels) * launch_s
        if graph.awaits_all and operator.routing != "none":
            serial_s += started_s
        elif operator.routing == "awaited":
            awaited_s += started_s
            routed_s += time_s
        else:
            host_s += started_s * (graph.launch_share if operator.routing == "none" else 1.0)
    if graph.runs_ahead:
        others_s = compute_s + memory_s - routed_s
        memory_s += np.maximum(host_s - others_s, 0.0) + np.maximum(awaited_s - routed_s, 0.0) + serial_s
    return BlockPrice(compute_s, memory_s, flops_j, block.memory_bytes, _sent(block))


def _sent(block: Block) -> dict[int, tuple[Floats, Floats, Floats]]:
    """Messages of a block by axis."""
    sums: dict[int, Floats] = {}
    for message in block.messages:
        counts, starts, sizes = sums.setdefault(DIMENSIONS.index(message.dimension), np.zeros((3, block.num_shapes)))
        counts += message.count
        starts += message.count * np.asarray(message.parts)
        sizes += message.count * np.asarray(message.message_bytes)
    return {axis: (each[0], each[1], each[2]) for axis, each in sums.items() if each[0].any()}
