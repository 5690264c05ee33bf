"""Shared by the tests of `demand` and `loop`."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from costmodel.memory_pool.demand import Demands
from costmodel.memory_pool.parts import load_shoreline
from costmodel.memory_pool.pool import MemoryPool
from costmodel.parallelism.mappings import Mappings

SHORELINE = load_shoreline("photonic-shoreline")
POOLS = {
    Fraction(2 * 10**12): MemoryPool(shoreline=SHORELINE, unit="memory-unit"),
    Fraction(4 * 10**12, 12): MemoryPool(shoreline=SHORELINE.with_bandwidth(4e12), unit="memory-unit", spread=True),
}


@dataclass(frozen=True)
class Scripted:
    """A workload whose share of memory by number of accelerators is given; 100 operations a byte."""

    footprint_gb: dict[int, float]

    def mappings(self, num_devices: int) -> Mappings:
        return Mappings.of(tensor=num_devices) if num_devices in self.footprint_gb else Mappings.none()

    def demands(self, mappings: Mappings) -> Demands:
        ones = np.ones(len(mappings))
        kept = np.array([1e9 * self.footprint_gb[int(n)] for n in mappings.num_devices])
        return Demands(mappings, 100e9 / mappings.num_devices, 1e9 / mappings.num_devices, kept, ones, 0 * ones)
