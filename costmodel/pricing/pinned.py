"""Divisions of a workload with the degrees of parallelism that a user pins, and why there are none."""

from collections.abc import Mapping

import numpy as np

from costmodel.parallelism.mappings import Mappings

Pinned = Mapping[str, int]
"""degrees by name of their column of Mappings"""


def with_pinned(mappings: Mappings, pinned: Pinned) -> Mappings:
    """Those of the mappings that have all pinned degrees."""
    return mappings.take(mappings.where(dict(pinned))) if pinned else mappings


def lack_of_pinned(mappings: Mappings, size: int, pinned: Pinned) -> str:
    """The first that no mapping on `size` devices meets: a degree by itself, or all of them together."""
    for name, degree in pinned.items():
        column = getattr(mappings, name)
        if degree not in column:
            found = ", ".join(map(str, np.unique(column).tolist()))
            return f"no division into {name} {degree} on {size:,} accelerators; there are those into {found}"
    said = " x ".join(f"{name} {degree}" for name, degree in pinned.items())
    return f"no division of {size:,} accelerators is {said}; leave one of them open"
