"""One replica on servers of its own: what users see of a workload by tensor degree, priced as any candidate."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from costmodel.fabrics import FabricBase, fat_tree_of
from costmodel.hardware.device import Device
from costmodel.hardware.systems import load_system, system_of
from costmodel.parallelism.mappings import Ints, Mappings
from costmodel.pricing.calibration import Calibrations
from costmodel.pricing.candidates import Candidates, list_candidates
from costmodel.pricing.score import Scores, score
from costmodel.pricing.search import widest_block
from costmodel.workloads import TransformerInference

TYPICAL = "dgx-h100"
"""system of a device of which the catalog has none"""


def replicas(
    workload: TransformerInference,
    tensor: Sequence[int],
    device: Device,
    calibrations: Calibrations | None = None,
) -> tuple[Ints, Candidates, Scores]:
    """Candidates with all users on one replica, the fastest of each degree that fits in memory, and their scores.

    The first column says which of `tensor` each row has. ValueError where the device does not run the precision.
    """
    fabric = servers_of(device.like or device.name, max(tensor))
    mappings = Mappings.of(tensor=np.array(tensor), micro_batch=workload.concurrency)
    fitting = list_candidates(workload, mappings, device, fabric, blocks=widest_block)
    scores = score(fitting, device, fabric, calibrations=calibrations)
    degree = fitting.mappings.tensor[fitting.mapping]
    order = np.lexsort((scores.step_s, degree))
    first = order[np.unique(degree[order], return_index=True)[1]]
    place = np.searchsorted(np.sort(tensor), degree[first])
    return np.argsort(tensor, kind="stable")[place], fitting.take(first), scores.take(first)


@cache
def servers_of(device: str, num_devices: int) -> FabricBase:
    """The catalog's servers of a device, for so many."""
    try:
        return fat_tree_of(system_of(device), num_devices)
    except ValueError:
        return fat_tree_of(load_system(TYPICAL), num_devices)
