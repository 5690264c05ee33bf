"""Time of operators on one device: the slower of compute and memory, plus the launch."""

import numpy as np

from costmodel.hardware import Device
from costmodel.opgraph import Floats, OpGraph


def operator_s(graph: OpGraph, device: Device) -> tuple[Floats, Floats, Floats]:
    """Compute, memory and total time of one execution of each operator, each of shape (O, C).

    time_s = max(compute_s, memory_s) + launch_s. Assumes perfect overlap of compute and memory inside an
    operator, none between operators, and one efficiency for all sizes.
    Source: Williams, Waterman and Patterson, Commun. ACM 52(4) (2009).
    """
    peak_flops_per_s = device.matrix_flops_per_s(graph.precision)
    compute_s: Floats = graph.flops / (device.matrix_efficiency * peak_flops_per_s)
    memory_s: Floats = graph.memory_bytes / (device.memory_efficiency * device.memory_bytes_per_s)
    return compute_s, memory_s, np.maximum(compute_s, memory_s) + device.launch_s
