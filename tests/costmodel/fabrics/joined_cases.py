"""Shared by the tests of `across_racks` and `joined_racks`."""

from costmodel.fabrics import Lightpath
from tests.costmodel.fabrics.lightpath_cases import lightpath

PACKETS = {"kind": "packets", "bandwidth": "50 GB/s", "alpha": "2 us", "energy": "10 pJ/b"}


def joined(**changes: object) -> Lightpath:
    """Three racks of eight tiles."""
    return Lightpath.model_validate(lightpath(racks=3).model_dump() | {"upper": PACKETS} | changes)
