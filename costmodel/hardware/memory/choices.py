"""What an accelerator gets for each way to divide its optical ports between memory and network.

Axis: S ways, which differ in how many ports go to memory.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from costmodel.hardware.device import Device
from costmodel.hardware.memory.derive import with_memory
from costmodel.hardware.memory.hit_rate import working_set_hit_rate
from costmodel.hardware.memory.limits import L2_PASSES, cache_limit
from costmodel.hardware.memory.tier import MemoryTier

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class CachedDevice:
    """An accelerator whose memory is a fast one that caches a large one."""

    cache_bytes: float
    """of the fast memory"""
    made: Callable[[float], Device] = field(compare=False)
    """the accelerator by the share of its reads that the fast memory has"""
    known: dict[float, Device] = field(default_factory=dict, compare=False, repr=False)

    def hits(self, working_set_bytes: Floats, *, at_random: bool) -> Floats:
        """Shares of their reads that the fast memory has, of jobs that keep reading so much."""
        return working_set_hit_rate(self.cache_bytes, working_set_bytes, at_random=at_random)

    def at(self, hit: float) -> Device:
        """Made once for each share."""
        if hit not in self.known:
            self.known[hit] = self.made(hit)
        return self.known[hit]


@dataclass(frozen=True)
class MemoryChoices:
    """Columns of shape (S,), all of one accelerator."""

    name: str
    """of the memory"""
    source: str
    units: Ints
    """parts of the memory that it has: stacks, units or modules"""
    memory_io: Ints
    """ports that they take"""
    network_io: Ints
    """ports that are left"""
    capacity_bytes: Floats
    bytes_per_s: Floats
    network_bytes_per_s: Floats
    """of the ports that are left"""
    latency_s: Floats
    """from a request to its first byte"""
    added_latency_s: Floats
    """of which the way to the memory takes more than that to stacks beside the die"""
    j_per_byte: Floats
    l2_passes: float | None = L2_PASSES
    """crossings of the last cache by one byte; None where the cache does not limit"""
    cache_bytes: Floats | None = None
    """of the fast memory before the large one; None where there is one memory"""

    def __len__(self) -> int:
        return len(self.units)

    def tier(self, row: int) -> MemoryTier:
        """The memory of one choice."""
        return MemoryTier(
            name=f"{self.name} x {int(self.units[row])}",
            capacity_bytes=float(self.capacity_bytes[row]),
            bandwidth_bytes_per_s=float(self.bytes_per_s[row]),
            latency_s=float(self.latency_s[row]),
            energy_j_per_byte=float(self.j_per_byte[row]),
            source=self.source,
        )

    def device(self, row: int, base: Device) -> Device:
        """The accelerator with the memory of one choice in place of its own, for `costmodel.pricing.score`.

        All traffic passes the last cache, whose bandwidth limits it where it is known. Each operator waits once for its
        first byte: the added latency is added to the part's launch. Launches that were fitted on the device, where
        `like` names one, hold as they are; they are tens of microseconds.
        """
        is_limited = base.l2_bytes_per_s is not None and self.l2_passes is not None
        limits = [cache_limit(base, passes=self.l2_passes or L2_PASSES)] if is_limited else []
        device, added_s = with_memory(base, self.tier(row), limits=limits), float(self.added_latency_s[row])
        return device.model_copy(update={"launch_s": base.launch_s + added_s, "first_byte_s": added_s})


class MemoryProvider(Protocol):
    """A memory that an accelerator may have."""

    def choices(self) -> MemoryChoices:
        """Every way to divide the accelerator's ports, by ports for memory, fewest first."""
        ...
