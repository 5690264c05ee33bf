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
    rows, fabric = rows_of_loop(cluster, job, candidates), cluster.fabric
    if not len(rows) or not isinstance(fabric, Sipam):
        return rows
    asked, of = fabric.loop(cluster.device, job.workload).result.accelerators, candidates.num_devices[rows]
    sizes = np.unique(of)
    return np.asarray(rows[of == sizes[min(int(np.searchsorted(sizes, asked)), len(sizes) - 1)]])


def rows_of_loop(cluster: Cluster, job: Job, candidates: Candidates) -> Ints:
    """Candidates of every size with the units of the loop."""
    fabric = cluster.fabric
    if not isinstance(fabric, Sipam) or fabric.local_memory:
        return np.zeros(0, np.int64)
    units = fabric.loop_units(cluster.device, job.workload)
    splits = [number for number, split in enumerate(candidates.splits) if split.memory_units == units]
    return np.flatnonzero(np.isin(candidates.split, splits) & ~candidates.has_phases)
