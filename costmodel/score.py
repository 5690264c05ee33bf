"""Candidates -> Scores: the one place where kernels are composed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel import energy, roofline
from costmodel.candidates import DIMENSIONS, Candidates
from costmodel.fabrics import FabricBase
from costmodel.hardware import Device

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """Price of each candidate, columns of shape (C,), row for row with `Candidates`.

    Times are seconds of one step; `compute_s` and `memory_s` split the operators by what binds them,
    `communication_s` has shape (3, C): tensor, pipeline, data; `bubble_s` is the idle time of a pipeline.
    Energies are joules of the whole job in one step.
    """

    step_s: Floats
    compute_s: Floats
    memory_s: Floats
    communication_s: Floats
    reconfiguration_s: Floats
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

    def take(self, rows: NDArray[np.int64]) -> "Scores":
        return Scores(**{name: column[..., rows] for name, column in vars(self).items()})


def score(candidates: Candidates, device: Device, fabric: FabricBase) -> Scores:
    """Price all rows in one vectorized pass.

    The time of a row is that of its busiest accelerator: operators by roofline, then messages along
    each dimension by its plan, without overlap, then the switches between the circuits of dimensions.
    """
    graph, m = candidates.graph, candidates.mapping
    bubble = graph.bubble[m]
    compute_all, memory_all, time_all = roofline.operator_s(graph, device)
    bound_by_compute = compute_all >= memory_all
    times = [(time_all * graph.count * mask)[:, m] for mask in (bound_by_compute, ~bound_by_compute)]
    in_bubble = graph.in_bubble[:, None]
    compute_s, memory_s = (time.sum(axis=0) for time in times)
    repeated_s = sum((time * in_bubble).sum(axis=0) for time in times)
    communication_s, repeated_messages_s, network_bytes = _communication(candidates, fabric)
    change_s, repeated_change_s = _phase_changes(candidates, fabric)
    bubble_s = (bubble - 1) * (repeated_s + repeated_messages_s + repeated_change_s)
    step_s = compute_s + memory_s + communication_s.sum(axis=0) + change_s + bubble_s
    num_devices = candidates.num_devices.astype(float)
    compute_j, memory_j = energy.operator_j(graph, device)
    return Scores(
        step_s=step_s,
        compute_s=compute_s,
        memory_s=memory_s,
        communication_s=communication_s,
        reconfiguration_s=change_s,
        bubble_s=np.asarray(bubble_s),
        work=graph.work[m],
        footprint_bytes=graph.footprint_bytes[m],
        compute_j=compute_j[m] * num_devices,
        memory_j=memory_j[m] * num_devices,
        network_j=_network_j(candidates, fabric, network_bytes) * num_devices,
        static_j=energy.static_j(step_s, device) * num_devices,
    )


def _communication(candidates: Candidates, fabric: FabricBase) -> tuple[Floats, Floats, Floats]:
    """Seconds by dimension (3, C), seconds inside the pipeline's bubble (C,), bytes sent by dimension (3, C)."""
    graph, m = candidates.graph, candidates.mapping
    latency_s = np.array([plan.latency_s for plan in candidates.plans])
    per_byte_s = np.array([plan.seconds_per_byte for plan in candidates.plans])
    sent = np.array([plan.bytes_per_byte for plan in candidates.plans])
    seconds, sent_bytes = np.zeros((3, len(m))), np.zeros((3, len(m)))
    repeated_s = np.zeros(len(m))
    for row, dimension in enumerate(graph.dimensions):
        axis = DIMENSIONS.index(dimension)
        plan = candidates.plan[axis]
        count, size = graph.message_count[row][m], graph.message_bytes[row][m]
        time_s = count * (latency_s[plan] + per_byte_s[plan] * size)
        seconds[axis] += time_s
        sent_bytes[axis] += count * size * sent[plan]
        if graph.message_in_bubble[row]:
            repeated_s += time_s
    return seconds, repeated_s, sent_bytes


def _phase_changes(candidates: Candidates, fabric: FabricBase) -> tuple[Floats, Floats]:
    """Seconds per step spent switching between the circuits of dimensions, and the part inside the bubble.

    A pipeline message between tensor phases, and a data phase beside any other, switch there and back.
    """
    graph, m = candidates.graph, candidates.mapping
    counts = np.zeros((3, len(m)))
    for row, dimension in enumerate(graph.dimensions):
        counts[DIMENSIONS.index(dimension)] += graph.message_count[row][m]
    tensor, pipeline, data = counts > 0
    inner = 2 * counts[1] * (tensor & pipeline)
    outer = 2 * counts[2] * (data & (tensor | pipeline))
    change_s = fabric.phase_change_s()
    return (inner + outer) * change_s, inner * change_s


def _network_j(candidates: Candidates, fabric: FabricBase, sent_bytes: Floats) -> Floats:
    """Joules per accelerator and step: what each dimension sends times the energy of its reach."""
    near, far = fabric.network_j_per_byte(True), fabric.network_j_per_byte(False)
    tensor = candidates.mappings.tensor[candidates.mapping]
    tensor_is_near = candidates.block % tensor == 0
    rest_is_near = candidates.block == candidates.num_devices
    is_near = np.stack([tensor_is_near, rest_is_near, rest_is_near])
    return np.asarray((sent_bytes * np.where(is_near, near, far)).sum(axis=0))
