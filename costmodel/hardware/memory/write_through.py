"""A fast memory as write-through cache of a large one, behind ports of its own."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costmodel.hardware.memory.tier import MemoryTier

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WriteThrough:
    """`cache` holds what was used of `backing`; each write goes to both.

    Hit rates are shares of bytes; all functions broadcast over them. Assumes that the cache is filled on the
    way of a miss to the ports, and so that filling takes no bandwidth of its own.
    """

    cache: MemoryTier
    backing: MemoryTier
    ports_bytes_per_s: float
    """of all ports towards the accelerators, one direction"""

    def read_bytes_per_s(self, hit: ArrayLike) -> Floats:
        """min(ports, 1 / (hit / cache + (1 - hit) / backing))."""
        share = _share(hit)
        per_byte_s = share / self.cache.bandwidth_bytes_per_s + (1 - share) / self.backing.bandwidth_bytes_per_s
        return np.minimum(self.ports_bytes_per_s, 1 / per_byte_s)

    def write_bytes_per_s(self) -> float:
        """Bounded by the backing memory, which takes every write."""
        return min(self.ports_bytes_per_s, self.cache.bandwidth_bytes_per_s, self.backing.bandwidth_bytes_per_s)

    def mixed_bytes_per_s(self, hit: ArrayLike, written: ArrayLike) -> Floats:
        """Of a stream of which the share `written` is writes, one after the other."""
        share = _share(written)
        per_byte_s = (1 - share) / self.read_bytes_per_s(hit) + share / self.write_bytes_per_s()
        return np.asarray(1 / per_byte_s, np.float64)

    def read_latency_s(self, hit: ArrayLike) -> Floats:
        """hit t_cache + (1 - hit)(t_cache + t_backing): a miss looks into the cache first."""
        share = _share(hit)
        return np.asarray(self.cache.latency_s + (1 - share) * self.backing.latency_s, np.float64)

    def read_j_per_byte(self, hit: ArrayLike) -> Floats:
        """A miss moves its byte out of the backing memory and into the cache."""
        share = _share(hit)
        return np.asarray(self.cache.energy_j_per_byte + (1 - share) * self.backing.energy_j_per_byte, np.float64)


def _share(value: ArrayLike) -> Floats:
    share = np.asarray(value, np.float64)
    if np.any(share < 0) or np.any(share > 1):
        raise ValueError(f"hit, written: shares lie between 0 and 1, not {share.min():g} .. {share.max():g}")
    return share
