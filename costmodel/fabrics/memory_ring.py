"""Devices and memory nodes on rings of links, and the ways of a device to its backing store.

Every ring passes all devices; between two devices it may pass memory nodes, which lengthens collectives and gives
devices links to memory. It is no member of the `Fabric` union: it prices training steps on one node, not jobs of a
cluster. Source: Kwon and Rhu, MICRO 2018, section III-B and figure 7.
"""

from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from costmodel.counts import MOST_PARTS
from costmodel.dataflow.streams.placement import Link
from costmodel.hardware.memory.node import MemoryNode
from costmodel.spec import BytesPerSecond, Latency, NumParts, Spec

Floats = NDArray[np.float64]
Arrangement = Literal["direct", "star", "folded_star", "ring"]
GAPS: dict[Arrangement, tuple[tuple[int, ...], ...]] = {
    "direct": (),
    "star": ((2,),),
    "folded_star": ((1, 0), (3, 0)),
    "ring": ((1,),),
}
"""memory nodes between devices that follow each other, repeated around a ring: of the last rings, the others having
none; of all rings in the arrangement `ring`"""


class HostPort(Spec):
    """The way into the host's memory, such as PCI Express."""

    bandwidth_bytes_per_s: BytesPerSecond
    """of the port in one direction"""
    devices: NumParts
    """that share it at once"""


class MemoryRing(Spec):
    """One node of a system; every device has the same links."""

    devices: NumParts
    """accelerators of the node"""
    links: int = Field(ge=2, le=MOST_PARTS)
    """of a device"""
    link_bandwidth_bytes_per_s: BytesPerSecond
    """of one link in one direction"""
    alpha_s: Latency
    """of one hop"""
    arrangement: Arrangement = "direct"
    """how links join devices and memory nodes"""
    node: MemoryNode | None = None
    """absent where the arrangement has no memory nodes"""
    host_links: int = Field(default=0, ge=0, le=MOST_PARTS)
    """links of a device that lead to the host in place of a ring"""
    host: HostPort | None = None
    """absent where memory of the host is not used by a port of its own"""

    @model_validator(mode="after")
    def _links_suffice(self) -> Self:
        if (self.arrangement == "direct") != (self.node is None):
            raise ValueError(f"node: arrangement '{self.arrangement}' {'has' if self.node else 'lacks'} one")
        if self.host_links >= self.links:
            raise ValueError(f"host_links ({self.host_links}) must leave links ({self.links}) for rings")
        if len(self.gaps) > self.num_rings:
            raise ValueError(f"arrangement: '{self.arrangement}' needs {len(self.gaps)} rings of {self.num_rings}")
        if any(self.devices % len(gap) for gap in self.gaps):
            raise ValueError(f"devices ({self.devices}) must be even in arrangement '{self.arrangement}'")
        return self

    @property
    def num_rings(self) -> int:
        """Whole rings in which a device has two links."""
        return (self.links - self.host_links) // 2

    @property
    def gaps(self) -> tuple[tuple[int, ...], ...]:
        """Memory nodes between devices, of each ring that has some."""
        found = GAPS[self.arrangement]
        return found * self.num_rings if self.arrangement == "ring" else found

    @property
    def ring_hops(self) -> tuple[int, ...]:
        """Hops once around each ring, ascending."""
        with_memory = [self.devices + sum(gap) * self.devices // len(gap) for gap in self.gaps]
        return tuple(sorted([self.devices] * (self.num_rings - len(with_memory)) + with_memory))

    @property
    def memory_links(self) -> int:
        """Links of a device that end at a memory node: those on both sides of a gap that has any."""
        return sum(2 * sum(1 for nodes in gap if nodes) // len(gap) for gap in self.gaps)

    @property
    def collective_bytes_per_s(self) -> float:
        """Of one device: every link that is not the host's carries a share of each collective."""
        return (self.links - self.host_links) * self.link_bandwidth_bytes_per_s

    def stores(self, *, shares_collectives: bool = False) -> tuple[Link, ...]:
        """Ways of one device to its backing store, none where it has none.

        `shares_collectives`: whether copies to memory nodes and collectives exclude each other.
        """
        if self.node is not None:
            names = ("left", "right") if self.arrangement == "ring" else ("memory node",)
            each = self.memory_links / len(names) * self.link_bandwidth_bytes_per_s
            reached = min(each, self.node.group_bytes_per_s)
            return tuple(
                Link(name=name, bandwidth_bytes_per_s=reached, shares_collectives=shares_collectives) for name in names
            )
        if self.host_links:
            return (Link(name="host", bandwidth_bytes_per_s=self.host_links * self.link_bandwidth_bytes_per_s),)
        if self.host is not None:
            sharing = min(self.host.devices, self.devices)
            return (Link(name="host", bandwidth_bytes_per_s=self.host.bandwidth_bytes_per_s / sharing),)
        return ()

    def exchange_s(self, message_bytes: ArrayLike, is_all_reduce: ArrayLike) -> Floats:
        """Time of ring collectives, of the shape that both broadcast to; an empty message takes none.

        An all-gather of n devices takes (n - 1) / n of the message at the collectives' bandwidth and n - 1 steps of
        as many hops as the longest ring has between two devices on average; an all-reduce takes twice that.
        """
        size, n = np.asarray(message_bytes, np.float64), self.devices
        hops = max(self.ring_hops, default=n) / n
        gather_s = (n - 1) / n * size / self.collective_bytes_per_s + (n - 1) * hops * self.alpha_s
        return np.asarray(np.where(size > 0, gather_s * np.where(is_all_reduce, 2.0, 1.0), 0.0))
