"""Why a workload has no candidate with the degrees of parallelism that a user pins."""

from collections.abc import Mapping

import numpy as np

from costmodel.hardware.device import Device
from costmodel.workloads import Workload

Pinned = Mapping[str, int]
"""degrees by name of their column of Mappings"""


def lack_of_pinned(workload: Workload, size: int, device: Device, pinned: Pinned) -> str:
    """The first that nothing meets: a degree by itself, all of them together, or memory; with what would do."""
    mappings = workload.mappings(size)
    for name, degree in pinned.items():
        column = getattr(mappings, name)
        if degree not in column:
            found = ", ".join(map(str, np.unique(column).tolist())) or "none"
            return f"no division into {name} {degree} on {size:,} devices; there are those into {found}"
    said = " x ".join(f"{name} {degree}" for name, degree in pinned.items())
    chosen = mappings.take(mappings.where(dict(pinned)))
    if not len(chosen):
        return f"no division of {size:,} devices is {said}; leave one of them open"
    local_bytes = workload.footprint(chosen)[0].min()
    missing = local_bytes - device.capacity_bytes
    return f"{said} would hold {local_bytes / 1e9:.1f} GB on each device, {missing / 1e9:.1f} GB more than it has"
