"""What it costs to run two phases of a workload under different settings: switches, and what is copied before each."""

from dataclasses import dataclass

import numpy as np

from costmodel.fabrics import FabricBase
from costmodel.parallelism.mappings import Floats
from costmodel.pricing.candidates import Candidates
from costmodel.workloads.transformer.joined_serving import JoinedServing

SWITCHES = 2
"""of a round: to the last phase, and back"""


@dataclass(frozen=True)
class PhaseSwitches:
    """Of one accelerator in a step, columns of shape (C,)."""

    step_s: Floats
    moved_bytes: Floats
    """read and written"""


def phase_switches(candidates: Candidates, footprint_bytes: Floats, fabric: FabricBase) -> PhaseSwitches:
    """Each switch sets the circuits anew and copies what lies in units that the phase with fewer does not reach.

    Memory is used evenly over the units that a phase reaches. Of the larger number some are left: these are read, or
    written on the way back, while the others are written, or read, and the fewer of both set the pace. Nothing else
    runs meanwhile.
    """
    if not candidates.has_phases.any():
        return PhaseSwitches(*np.zeros((2, len(candidates))))
    assert candidates.first_split is not None
    assert fabric.resetting_s is not None
    number = np.array([split.memory_units for split in candidates.splits], np.float64)
    rate = np.array([split.device.memory_bytes_per_s for split in candidates.splits])
    here, there = candidates.first_split, candidates.split
    poorer = np.where(number[here] < number[there], here, there)
    fewer, more = number[poorer], np.maximum(number[here], number[there])
    copied_bytes = footprint_bytes * (more - fewer) / more
    pace = rate[poorer] * np.minimum(more - fewer, fewer) / fewer
    copying_s = np.divide(copied_bytes, pace, out=np.zeros(len(pace)), where=pace > 0)
    switches = SWITCHES * rounds_per_step(candidates) * candidates.has_phases
    return PhaseSwitches(switches * (fabric.resetting_s + copying_s), switches * 2 * copied_bytes)


def rounds_per_step(candidates: Candidates) -> Floats | float:
    """Of the phases; by row, shape (C,), where these are of several jobs."""
    workload = candidates.workload
    if not isinstance(workload, JoinedServing):
        return workload.rounds_per_step
    return np.asarray(workload.rounds_of_jobs[candidates.mappings.job[candidates.mapping]])
