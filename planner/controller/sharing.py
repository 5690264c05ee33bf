"""What jobs of a fabric share beside accelerators: a new place is held against that."""

from typing import Literal

from costmodel.fabrics import (
    DividedPorts,
    FabricBase,
    Lightpath,
    OcsRail,
    Sipac,
    Sipam,
    Torus,
)

Shared = Literal["nothing", "nothing, with circuits", "pool", "fibers", "whole plan"]
"""What jobs share beside accelerators, and so what a new place is held against: nothing, where circuits, if any, have
ports of their own; units, ports and uplinks of a pool; light of fibers; or what only the checks of a whole plan tell"""


def what_jobs_share(fabric: FabricBase) -> Shared:
    """On servers joined by packets nothing but accelerators."""
    if isinstance(fabric, OcsRail | Torus | Sipac):
        return "nothing, with circuits"
    if isinstance(fabric, Sipam):
        return "pool"
    if isinstance(fabric, DividedPorts):
        return "nothing" if fabric.shared is None else "whole plan"
    if isinstance(fabric, Lightpath):
        return "whole plan" if fabric.transit or fabric.slots_matter else "fibers"
    return "nothing"
