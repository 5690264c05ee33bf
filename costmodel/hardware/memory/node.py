"""Memory nodes: DIMMs on a board with links of the devices' own kind, divided into groups.

Source: Kwon and Rhu, MICRO 2018, section III-A.
"""

from typing import Annotated

from pydantic import Field

from costmodel.catalog import documents, unknown_name
from costmodel.hardware.parts import by_name
from costmodel.spec import Bytes, BytesPerSecond, NumParts, Spec, Watts


class Dimm(Spec):
    """One memory module."""

    capacity_bytes: Bytes = Field(gt=0)
    """of one DIMM"""
    bandwidth_bytes_per_s: BytesPerSecond
    """of one DIMM"""
    power_w: Watts
    """thermal design power"""


def dimm_names() -> tuple[str, ...]:
    """Names of the DIMMs in the catalog, by capacity."""
    return tuple(documents()["ddr4-dimms"]["dimms"])


def load_dimm(name: str) -> Dimm:
    """A DIMM of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    known = documents()["ddr4-dimms"]["dimms"]
    if name not in known:
        raise unknown_name("dimm", name, known)
    return Dimm.model_validate(known[name])


class MemoryNode(Spec):
    """One board; a group has its own links, DMA engine and share of the DIMMs."""

    dimm: Annotated[Dimm, by_name(load_dimm)]
    """one of them: a name of the catalog, or all fields inline"""
    dimms: NumParts
    """DIMMs of the node"""
    groups: NumParts = 1
    """each is owned by one device; with a single group all devices share everything"""
    dimm_bandwidth_bytes_per_s: BytesPerSecond | None = None
    """of each DIMM, where a system is evaluated with faster ones"""

    @property
    def capacity_bytes(self) -> float:
        return self.dimms * self.dimm.capacity_bytes

    @property
    def dimm_rate_bytes_per_s(self) -> float:
        """Of each DIMM in this node."""
        return self.dimm_bandwidth_bytes_per_s or self.dimm.bandwidth_bytes_per_s

    @property
    def bandwidth_bytes_per_s(self) -> float:
        return self.dimms * self.dimm_rate_bytes_per_s

    @property
    def power_w(self) -> float:
        return self.dimms * self.dimm.power_w

    @property
    def group_bytes_per_s(self) -> float:
        """What the DIMMs of one group deliver."""
        return self.bandwidth_bytes_per_s / self.groups
