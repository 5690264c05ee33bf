"""Candidates -> Scores: the one place where kernels are composed."""

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from costmodel.calibration import Calibration
from costmodel.candidates import Candidates
from costmodel.efficiency import efficiency_of
from costmodel.fabrics import FabricBase
from costmodel.hardware import Device
from costmodel.mappings import DIMENSIONS
from costmodel.opgraph import OpGraph
from costmodel.roofline import BlockPrice, block_price

Floats = NDArray[np.float64]
Calibrations = tuple[Calibration, ...]
CHUNK = 1 << 15
"""rows priced at once: their columns stay in the cache"""


@dataclass(frozen=True)
class Scores:
    """Price of each candidate, columns of shape (C,), row for row with `Candidates`.

    Times are seconds of one step; `compute_s` and `memory_s` split the operators by what binds them,
    `communication_s` has shape (5, C), by DIMENSIONS, without what hides behind operators; `offload_s` is what
    the second memory tier adds, `bubble_s` the idle time of a pipeline. Energies are joules of the whole job
    in one step.
    """

    step_s: Floats
    compute_s: Floats
    memory_s: Floats
    communication_s: Floats
    reconfiguration_s: Floats
    offload_s: Floats
    bubble_s: Floats
    work: Floats
    footprint_bytes: Floats
    compute_j: Floats
    memory_j: Floats
    network_j: Floats
    static_j: Floats

    @property
    def speed(self) -> Floats:
        """Units of work (tokens) per second of the whole job."""
        return self.work / self.step_s

    @property
    def energy_j(self) -> Floats:
        """Joules of the whole job in one step."""
        return self.compute_j + self.memory_j + self.network_j + self.static_j

    @property
    def energy_per_work_j(self) -> Floats:
        """Joules per unit of work."""
        return self.energy_j / self.work

    @property
    def power_w(self) -> Floats:
        return self.energy_j / self.step_s

    def take(self, rows: NDArray[np.integer]) -> "Scores":
        return Scores(**{name: column[..., rows] for name, column in vars(self).items()})

    @classmethod
    def empty(cls, num_rows: int) -> "Scores":
        shapes = {"communication_s": (len(DIMENSIONS), num_rows)}
        return cls(**{f.name: np.empty(shapes.get(f.name, (num_rows,))) for f in fields(cls)})


def score(
    candidates: Candidates, device: Device, fabric: FabricBase, *, calibrations: Calibrations | None = None
) -> Scores:
    """Price all rows, as many at once as fit the cache; memory grows by the rows of Scores alone.

    The time of a row is that of its busiest accelerator: operators by roofline, then messages along
    each dimension by its plan, less what hides, then the switches between the circuits of dimensions.
    `calibrations` replaces the catalog's.
    """
    scores = Scores.empty(len(candidates))
    for start in range(0, len(candidates), CHUNK):
        rows = slice(start, min(start + CHUNK, len(candidates)))
        part, graph = candidates.part(rows, device)
        for name, column in _price(part, graph, device, fabric, calibrations).items():
            getattr(scores, name)[..., rows] = column
    return scores


def _price(
    candidates: Candidates, graph: OpGraph, device: Device, fabric: FabricBase, calibrations: Calibrations | None
) -> dict[str, Floats]:
    """Columns of Scores of some rows, whose mappings are those of the graph."""
    m = candidates.mapping
    efficiency, _ = efficiency_of(device, graph.regime, graph.precision, calibrations)
    sums = _Sums(candidates, graph, fabric)
    for block in graph.blocks:
        sums.add(block_price(block, graph, device, efficiency), block.shape, block.times, block.in_bubble)
    communication_s = sums.exposed_s()
    change_s, repeated_change_s = sums.phase_changes_s()
    operator_s = sums.compute_s + sums.memory_s
    repeated_s = sums.repeated_operator_s + sums.repeated_message_s + repeated_change_s
    bubble_s = graph.bubble[m] * repeated_s
    relief_s = np.minimum(graph.relief[m] * repeated_s, operator_s - sums.repeated_operator_s)
    offload_s = np.zeros(len(m))
    if device.offload is not None:
        offload_s = np.maximum(graph.tier_bytes[m] / device.offload.bandwidth_bytes_per_s - operator_s, 0.0)
    step_s = operator_s + communication_s.sum(axis=0) + change_s + bubble_s + offload_s + efficiency.step_s - relief_s
    num_devices = candidates.num_devices.astype(np.float64)
    tier_j = 0.0 if device.offload is None else graph.tier_bytes[m] * device.offload.energy_j_per_byte
    return {
        "step_s": step_s,
        "compute_s": sums.compute_s - relief_s,
        "memory_s": sums.memory_s + efficiency.step_s,
        "communication_s": communication_s,
        "reconfiguration_s": change_s,
        "offload_s": offload_s,
        "bubble_s": bubble_s,
        "work": graph.work[m],
        "footprint_bytes": graph.footprint_bytes[m],
        "compute_j": sums.flops_j * num_devices,
        "memory_j": (sums.memory_bytes * device.memory_j_per_byte + tier_j) * num_devices,
        "network_j": sums.network_j() * num_devices,
        "static_j": step_s * device.idle_w * num_devices,
    }


class _Sums:
    """Totals over the blocks of a graph, columns of shape (C,) and (5, C)."""

    def __init__(self, candidates: Candidates, graph: OpGraph, fabric: FabricBase) -> None:
        self.candidates, self.graph, self.fabric = candidates, graph, fabric
        num_rows, num_dimensions = len(candidates), len(DIMENSIONS)
        self.compute_s, self.memory_s, self.flops_j, self.memory_bytes = np.zeros((4, num_rows))
        self.repeated_operator_s, self.repeated_message_s = np.zeros((2, num_rows))
        self.message_s, self.message_count, self.sent_bytes = np.zeros((3, num_dimensions, num_rows))
        plans = candidates.plans
        self.latency_s = np.array([plan.latency_s for plan in plans])
        self.per_byte_s = np.array([plan.seconds_per_byte for plan in plans])
        self.sent_per_byte = np.array([plan.bytes_per_byte for plan in plans])

    def add(self, price: BlockPrice, shape: NDArray[np.integer], times: Floats, in_bubble: bool) -> None:
        m = self.candidates.mapping
        k, n = shape[m], times[m]
        compute_s, memory_s = price.compute_s[k] * n, price.memory_s[k] * n
        self.compute_s += compute_s
        self.memory_s += memory_s
        self.flops_j += price.flops_j[k] * n
        self.memory_bytes += price.memory_bytes[k] * n
        if in_bubble:
            self.repeated_operator_s += compute_s + memory_s
        for axis, dimension in enumerate(DIMENSIONS):
            if not price.message_count[axis].any():
                continue
            plan = self.candidates.plan[axis]
            count, size = price.message_count[axis][k] * n, price.message_bytes[axis][k] * n
            time_s = count * self.latency_s[plan] + size * self.per_byte_s[plan]
            self.message_s[axis] += time_s
            self.message_count[axis] += count
            self.sent_bytes[axis] += size * self.sent_per_byte[plan]
            if in_bubble:
                self.repeated_message_s += time_s * (1 - self.graph.overlap.get(dimension, 0.0))

    def exposed_s(self) -> Floats:
        """Communication that operators do not hide, (5, C): no more hides than operators take."""
        hides = np.array([self.graph.overlap.get(dimension, 0.0) for dimension in DIMENSIONS])
        hidden_s = hides[:, None] * self.message_s
        total_s = hidden_s.sum(axis=0)
        room = np.divide(self.compute_s + self.memory_s, total_s, out=np.ones_like(total_s), where=total_s > 0)
        return np.asarray(self.message_s - hidden_s * np.minimum(room, 1.0))

    def phase_changes_s(self) -> tuple[Floats, Floats]:
        """Seconds per step spent switching between the circuits of dimensions, and the part inside the bubble.

        A pipeline message between tensor phases, and a data phase beside any other, switch there and back.
        """
        change_s = self.fabric.phase_change_s()
        if change_s == 0.0:
            none = np.zeros(len(self.candidates))
            return none, none
        tensor, pipeline, data = self.message_count[:3] > 0
        inner = 2 * self.message_count[1] * (tensor & pipeline)
        outer = 2 * self.message_count[2] * (data & (tensor | pipeline))
        return (inner + outer) * change_s, inner * change_s

    def network_j(self) -> Floats:
        """Joules per accelerator and step: what each dimension sends times the energy of its reach."""
        near, far = self.fabric.network_j_per_byte(True), self.fabric.network_j_per_byte(False)
        is_near = self.candidates.is_confined()
        return np.asarray((self.sent_bytes * np.where(is_near, near, far)).sum(axis=0))
