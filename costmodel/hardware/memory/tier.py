"""A memory as an accelerator sees it: how much, how fast, how late, at what energy."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from costmodel.hardware.parts import SourcedPart, by_name, load_part
from costmodel.spec import Bytes, BytesPerSecond, JoulesPerByte, Latency

Floats = NDArray[np.float64]
KIND: Literal["memory_tier"] = "memory_tier"


def transfer_s(num_bytes: ArrayLike, latency_s: ArrayLike, bytes_per_s: ArrayLike) -> Floats:
    """Time of one transfer: latency + bytes / bandwidth; arguments broadcast. Nothing takes no time."""
    size = np.asarray(num_bytes, np.float64)
    return np.asarray(np.where(size > 0, np.asarray(latency_s) + size / np.asarray(bytes_per_s), 0.0), np.float64)


class MemoryTier(SourcedPart):
    """One memory behind one interface; reads and writes share the bandwidth."""

    kind: Literal["memory_tier"] = KIND
    capacity_bytes: Bytes = Field(gt=0)
    """of one stack or tier"""
    bandwidth_bytes_per_s: BytesPerSecond
    """peak of one direction"""
    latency_s: Latency
    """from a request of the accelerator to its first byte"""
    energy_j_per_byte: JoulesPerByte
    """of moving a byte between this memory and the accelerator"""

    def transfer_s(self, num_bytes: ArrayLike) -> Floats:
        """Time of one transfer alone on this memory, of the shape of `num_bytes`."""
        return transfer_s(num_bytes, self.latency_s, self.bandwidth_bytes_per_s)


def load_memory_tier(name: str) -> MemoryTier:
    """A memory of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(MemoryTier, KIND, name)


TierOrName = Annotated[MemoryTier, by_name(load_memory_tier)]
"""a memory, or the name of one in the catalog"""
