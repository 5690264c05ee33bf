"""What it costs to run two phases of a workload under different settings: switches, and what is copied before each."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import FabricBase
from costmodel.hardware.device import Device
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.candidates import Candidates
from costmodel.workloads.transformer.joined_serving import JoinedServing

SWITCHES = 2
"""of a round: to the last phase, and back"""


@dataclass(frozen=True)
class PhaseSwitches:
    """Of one accelerator in a step, columns of shape (C,)."""

    step_s: Floats
    moved_j: Floats
    """of what is read and written"""


def phase_switches(
    candidates: Candidates, footprint_bytes: Floats, tier_footprint_bytes: Floats, fabric: FabricBase
) -> PhaseSwitches:
    """Each switch sets the circuits anew and copies what lies in units that the phase with fewer does not reach: of all
    memory, or where accelerators have memory of their own, of the second tier.

    Memory is used evenly over the units that a phase reaches. Of the larger number some are left: these are read, or
    written on the way back, while the others are written, or read, and the fewer of both set the pace. Nothing else
    runs meanwhile.
    """
    if not candidates.has_phases.any():
        return PhaseSwitches(*np.zeros((2, len(candidates))))
    assert candidates.first_split is not None
    assert fabric.resetting_s is not None
    number = units_of(candidates)
    parts = [_behind_light(split.device) for split in candidates.splits]
    rate, j_per_byte = np.array([(bytes_per_s, joules) for _, bytes_per_s, joules in parts]).T
    here, there = candidates.first_split, candidates.split
    poorer = np.where(number[here] < number[there], here, there)
    fewer, more = number[poorer], np.maximum(number[here], number[there])
    held_bytes = np.where(memory_of_units(candidates)[1][there], tier_footprint_bytes, footprint_bytes)
    copied_bytes = held_bytes * (more - fewer) / np.maximum(more, 1.0)
    pace = rate[poorer] * np.minimum(more - fewer, fewer) / np.maximum(fewer, 1.0)
    copying_s = np.divide(copied_bytes, pace, out=np.zeros(len(pace)), where=pace > 0)
    switches = SWITCHES * rounds_per_step(candidates) * candidates.has_phases
    moved_bytes = switches * 2 * copied_bytes
    return PhaseSwitches(switches * (fabric.resetting_s + copying_s), moved_bytes * j_per_byte[there])


def units_of(candidates: Candidates) -> Floats:
    """Memory units of each split."""
    return np.array([split.memory_units or 0 for split in candidates.splits], np.float64)


def memory_of_units(candidates: Candidates) -> tuple[Floats, NDArray[np.bool_]]:
    """Bytes that the units of each split hold, or where it has none those of local memory, and whether they are a
    second tier."""
    is_tier = np.array([split.device.offload is not None for split in candidates.splits])
    return np.array([_behind_light(split.device)[0] for split in candidates.splits]), is_tier


def _behind_light(device: Device) -> tuple[float, float, float]:
    """Capacity, bandwidth and energy of a byte of the memory that units are."""
    if (tier := device.offload) is not None:
        return tier.capacity_bytes, tier.bandwidth_bytes_per_s, tier.energy_j_per_byte
    return device.capacity_bytes, device.memory_bytes_per_s, device.memory_j_per_byte


def rounds_per_step(candidates: Candidates) -> Floats | float:
    """Of the phases; by row, shape (C,), where these are of several jobs."""
    workload = candidates.workload
    if not isinstance(workload, JoinedServing):
        return workload.rounds_per_step
    return np.asarray(workload.rounds_of_jobs[candidates.mappings.job[candidates.mapping]])
