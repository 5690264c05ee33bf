"""Energy of one accelerator in one step: what it computes, what it moves, and what it draws at all times."""

import numpy as np

from costmodel.hardware import Device
from costmodel.opgraph import Floats, OpGraph


def operator_j(graph: OpGraph, device: Device) -> tuple[Floats, Floats]:
    """Energy of matrix operations and of local-memory traffic in one step, each of shape (C,).

    Energy above idle is proportional to operations and bytes; waiting in a pipeline's bubble costs none.
    """
    flops = np.sum(graph.flops * graph.count, axis=0)
    memory_bytes = np.sum(graph.memory_bytes * graph.count, axis=0)
    compute_j: Floats = flops * device.energy_j_per_flop[graph.precision]
    memory_j: Floats = memory_bytes * device.memory_j_per_byte
    return compute_j, memory_j


def static_j(time_s: Floats, device: Device) -> Floats:
    """Energy that one accelerator draws in time_s whatever it does; any shape."""
    return time_s * device.idle_w
