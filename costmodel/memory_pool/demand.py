"""What a workload asks of the accelerators that it is divided over: operations, traffic and capacity.

Axis: M mappings on one number of accelerators.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import Floats, Mappings
from costmodel.workloads import Workload


@dataclass(frozen=True)
class Demands:
    """Columns of shape (M,), of one accelerator (the busiest) and one step."""

    mappings: Mappings
    flops: Floats
    memory_bytes: Floats
    """traffic of its memory"""
    footprint_bytes: Floats
    operators: Floats
    """kernels, each of which waits once for its first byte"""
    idle: Floats
    """bubble of a pipeline over busy time"""

    def __len__(self) -> int:
        return len(self.mappings)

    @property
    def flops_per_byte(self) -> Floats:
        """Arithmetic intensity I_w, as each accelerator sees it."""
        return self.flops / self.memory_bytes

    @property
    def workload_bytes(self) -> Floats:
        """Size of the workload C_w: what all accelerators keep."""
        return self.footprint_bytes * self.mappings.num_devices

    def time_s(self, flops_per_s: float, bytes_per_s: float, added_latency_s: float = 0.0) -> Floats:
        """Least time of a step: the slower of compute and memory, with the bubble; messages are left out."""
        busy_s = np.maximum(self.flops / flops_per_s, self.memory_bytes / bytes_per_s)
        return np.asarray((1.0 + self.idle) * (busy_s + self.operators * added_latency_s))

    def best(self, flops_per_s: float, bytes_per_s: float, capacity_bytes: float) -> int:
        """Row of the least time among those that fit in memory, or, where none does, of the least footprint."""
        misfit_bytes = np.maximum(self.footprint_bytes - capacity_bytes, 0.0)
        misfit_bytes[misfit_bytes <= 1e-9 * capacity_bytes] = 0.0
        return int(np.lexsort((self.footprint_bytes, self.time_s(flops_per_s, bytes_per_s), misfit_bytes))[0])


class Demand(Protocol):
    """A workload that can be divided over any number of accelerators."""

    def mappings(self, num_devices: int) -> Mappings:
        """Every way to divide it; none where nothing divides."""
        ...

    def demands(self, mappings: Mappings) -> Demands: ...


@dataclass(frozen=True)
class WorkloadDemand:
    """A workload of an instance, by the operators that the cost model prices."""

    workload: Workload
    device: Device

    def mappings(self, num_devices: int) -> Mappings:
        """Those that the workload lists; without groups of context and experts, which a pool's racks do not join, where
        there are such."""
        listed = self.workload.mappings(num_devices)
        joined = listed.take((listed.context == 1) & (listed.expert == 1))
        return joined if len(joined) else listed

    def demands(self, mappings: Mappings) -> Demands:
        """Totals of the op graph."""
        graph = self.workload.op_graph(mappings, self.device)
        operators = np.zeros(len(mappings))
        for block in graph.blocks:
            operators += block.total(operator.count for operator in block.operators)[block.shape] * block.times
        return Demands(
            mappings=mappings,
            flops=graph.flops,
            memory_bytes=graph.memory_bytes,
            footprint_bytes=graph.footprint_bytes,
            operators=operators,
            idle=graph.bubble,
        )


def attainable_flops_per_s(flops_per_byte: ArrayLike, flops_per_s: float, bytes_per_s: ArrayLike) -> Floats:
    """Roofline: min(F_peak, I B) of one accelerator; arguments broadcast.

    Source: Williams, Waterman and Patterson, Commun. ACM 52(4) (2009).
    """
    bound = np.asarray(flops_per_byte, np.float64) * np.asarray(bytes_per_s, np.float64)
    return np.minimum(flops_per_s, bound)
