"""OpGraph -> time and energy of one step: the one place where kernels are composed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.pricing.calibration import Calibration
from costmodel.pricing.candidates import Candidates
from costmodel.pricing.communication import LinkLimits, Sent, communication, network_j
from costmodel.pricing.efficiency import Efficiency, efficiency_of
from costmodel.pricing.opgraph import OpGraph
from costmodel.pricing.power import Drawn
from costmodel.pricing.roofline import block_prices
from costmodel.pricing.switching import Switching, switching
from costmodel.pricing.totals import Totals, totals

Floats = NDArray[np.float64]
Calibrations = tuple[Calibration, ...]


def step_price(
    candidates: Candidates, graph: OpGraph, device: Device, fabric: FabricBase, calibrations: Calibrations | None,
    memory_j_per_byte: Floats | float,
) -> tuple[dict[str, Floats], Drawn]:  # fmt: skip
    """Columns of Scores of some rows, whose mappings are those of the graph, and what an accelerator draws for them, of
    all or of each of which a byte of memory takes so much."""
    m = candidates.mapping.astype(np.intp, copy=False)
    efficiency, sums, is_confined, sent = _sent(candidates, graph, device, fabric, calibrations)
    operator_s = (sums.compute_s + sums.memory_s).take(m)
    change_s, repeated_change_s = switching(candidates, sums, fabric, operator_s - sent.hidden_s).shown_s
    repeated_s = sums.repeated_s.take(m) + sent.repeated_s + repeated_change_s
    bubble_s = graph.bubble.take(m) * repeated_s
    relief, last_compute_s, last_memory_s = _last_stage(graph, sums, m, repeated_s)
    offload_s, tier_j = _second_tier(graph, device, m, sums.compute_s + sums.memory_s)
    fixed_s = efficiency.step_s * graph.launch_share if graph.has_fixed_time else 0.0
    busy_s = operator_s - relief * (last_compute_s + last_memory_s) + fixed_s
    sending_s = sent.exposed_s.sum(axis=0)
    memory_j = sums.memory_bytes.take(m) * memory_j_per_byte
    drawn = Drawn(busy_s, sending_s, sums.flops_j.take(m), memory_j, tier_j)
    columns = {
        "step_s": busy_s + sending_s + change_s + bubble_s + offload_s,
        "compute_s": sums.compute_s.take(m) - relief * last_compute_s,
        "memory_s": sums.memory_s.take(m) - relief * last_memory_s + fixed_s,
        "communication_s": sent.exposed_s,
        "reconfiguration_s": change_s,
        "offload_s": offload_s,
        "bubble_s": bubble_s,
        "network_j": (network_j(is_confined, fabric, sent.sent_bytes, sent.near_bytes) + sent.upper_j)
        * candidates.num_devices.astype(np.float64),
    }
    return columns, drawn


def switching_of(candidates: Candidates, graph: OpGraph, device: Device, fabric: FabricBase) -> Switching:
    """Switches of the steps of some rows, and what hides of them."""
    _, sums, _, sent = _sent(candidates, graph, device, fabric, None)
    operator_s = (sums.compute_s + sums.memory_s).take(candidates.mapping)
    return switching(candidates, sums, fabric, operator_s - sent.hidden_s)


def _sent(
    candidates: Candidates, graph: OpGraph, device: Device, fabric: FabricBase, calibrations: Calibrations | None
) -> tuple[Efficiency, Totals, NDArray[np.bool_], Sent]:
    """What a device reaches, sums over the blocks of the graph, groups inside servers, (5, C), and messages."""
    efficiency, _ = efficiency_of(device, graph.regime, graph.precision, calibrations, graph.framework)
    prices = block_prices(graph.blocks, graph, device, efficiency, calibrations)
    sums = totals(len(graph), zip(graph.blocks, prices, strict=True), graph.processors)
    operator_s = (sums.compute_s + sums.memory_s).take(candidates.mapping)
    is_confined = candidates.is_confined(sums.messages)
    links = LinkLimits.of(graph, fabric, efficiency, is_confined)
    return efficiency, sums, is_confined, communication(candidates, graph, sums, operator_s, links)


def _last_stage(
    graph: OpGraph, sums: Totals, m: NDArray[np.integer[Any]], repeated_s: Floats
) -> tuple[Floats | float, Floats | float, Floats | float]:
    """Share of what the last stage alone runs that it is spared, having fewer layers, and compute and memory time of
    that; nothing where all have as many."""
    if not graph.relief.any():
        return 0.0, 0.0, 0.0
    compute_s, memory_s = sums.last_compute_s.take(m), sums.last_memory_s.take(m)
    last_s = compute_s + memory_s
    spared_s = graph.relief.take(m) * repeated_s
    return np.minimum(spared_s / np.where(last_s > 0, last_s, np.inf), 1.0), compute_s, memory_s


def _second_tier(
    graph: OpGraph, device: Device, m: NDArray[np.integer[Any]], operator_s: Floats
) -> tuple[Floats, Floats]:
    """Time that operators do not hide, and energy, of moving what is offloaded, shape (C,): none without a second tier.

    All of it hides behind the operators of the step, and what has to move during some of them behind these.
    """
    if device.offload is None:
        none = np.zeros(len(m))
        return none, none
    rate = device.offload.bandwidth_bytes_per_s
    exposed_s = np.maximum(graph.tier_bytes / rate - operator_s, 0.0)
    for size_bytes, share in graph.tier_windows:
        exposed_s = np.maximum(exposed_s, size_bytes / rate - share * operator_s)
    return exposed_s.take(m), (graph.tier_bytes * device.offload.energy_j_per_byte).take(m)
