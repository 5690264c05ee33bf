"""Embedding pooling of recommendation models: gather rows of sharded tables, pool them, exchange what is pooled.

Tables are split by rows over the devices, so each device pools its share of every lookup and a reduce-scatter
adds the shares. All functions work on arrays of any one shape (N,).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from costmodel.spec import BytesPerSecond, Seconds, Spec

Floats = NDArray[np.float64]


class GatherMemory(Spec):
    """Memory that rows are gathered from."""

    memory_bytes_per_s: BytesPerSecond
    """published peak that one reader reaches"""
    efficiency: float
    """share of the peak that gathering short rows reaches"""
    launch_s: Seconds
    """time of a lookup of nothing"""
    index_bytes: float = 0.0
    """read for each row beside the row itself"""


class Exchange(Spec):
    """The network that the reduce-scatter of pooled rows runs on."""

    step_s: Seconds
    """latency of one of its (devices - 1) steps"""
    bandwidth_bytes_per_s: BytesPerSecond
    """of one device in one direction"""


@dataclass(frozen=True)
class Lookups:
    """Batches of lookups; each column of shape (N,)."""

    tables: Floats
    batch: Floats
    """samples"""
    pooling: Floats
    """rows that are added up for a sample in one table"""
    row_bytes: float
    """embedding dimension times size of a number"""

    @property
    def pooled_bytes(self) -> Floats:
        """One row for each sample and table."""
        return self.tables * self.batch * self.row_bytes


def pooling_s(lookups: Lookups, memory: GatherMemory, exchange: Exchange | None = None, devices: int = 1) -> Floats:
    """Time of the lookups, of shape (N,): gather and pool on each of the devices, then reduce-scatter.

    One device, such as an appliance that holds all tables in one address space, exchanges nothing.
    """
    if devices < 1 or (devices > 1 and exchange is None):
        raise ValueError(f"devices: {devices} need {'an exchange' if devices > 1 else 'to be one or more'}; correct it")
    rows = lookups.tables * lookups.batch * lookups.pooling / devices
    gather_s = rows * (lookups.row_bytes + memory.index_bytes) / (memory.efficiency * memory.memory_bytes_per_s)
    total_s: Floats = memory.launch_s + gather_s
    if exchange is None:
        return total_s
    sent_bytes = (devices - 1) / devices * lookups.pooled_bytes
    return total_s + (devices - 1) * exchange.step_s + sent_bytes / exchange.bandwidth_bytes_per_s


def devices_for(table_bytes: float, capacity_bytes: float) -> int:
    """Fewest devices whose memory holds all tables, as a power of two."""
    if table_bytes <= 0 or capacity_bytes <= 0:
        raise ValueError(f"table_bytes, capacity_bytes: {table_bytes} in {capacity_bytes}; both must be positive")
    needed = int(np.ceil(table_bytes / capacity_bytes))
    return int(2 ** np.ceil(np.log2(needed)))
