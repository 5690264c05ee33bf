"""What the SiPAM loop chooses for a job: memory units of an accelerator, and how many accelerators."""

import numpy as np
from numpy.typing import NDArray

from costmodel.fabrics import Sipam
from costmodel.pricing.candidates import Candidates
from planner.model.cluster import Cluster
from planner.model.job import Job

Ints = NDArray[np.int64]


def loop_rows(cluster: Cluster, job: Job, candidates: Candidates) -> Ints:
    """Candidates with the units of the loop on its number of accelerators; none where it has none that fits in memory,
    or where accelerators have memory of their own: the loop gives them all of it from the pool.

    Its number is rounded up to the next size of the job that has such candidates, or is the largest of these.
    """
    fabric = cluster.fabric
    if not isinstance(fabric, Sipam) or fabric.local_memory or not len(candidates):
        return np.zeros(0, np.int64)
    units = fabric.loop_units(cluster.device, job.workload)
    asked = fabric.loop(cluster.device, job.workload).result.accelerators
    splits = [number for number, split in enumerate(candidates.splits) if split.memory_units == units]
    of_loop = np.isin(candidates.split, splits) & ~candidates.has_phases
    sizes = np.unique(candidates.num_devices[of_loop])
    if not len(sizes):
        return np.zeros(0, np.int64)
    size = sizes[min(int(np.searchsorted(sizes, asked)), len(sizes) - 1)]
    return np.flatnonzero(of_loop & (candidates.num_devices == size))
