"""Time of kernels on an array of processing elements that keeps a tile of outputs on chip.

A product C[m, n] = A[m, k] B[k, n] takes, after the latency of memory, the longer of its arithmetic and its traffic:

    max(ceil(m n / elements) ceil(k / macs) cycle, (A ceil(n / tile) + B ceil(m / tile) + C) / bandwidth) + latency

Outputs stay in a square tile that fills half of the SRAM, the other half being filled meanwhile; every tile of the
other side reads an operand again. Source: Kwon and Rhu, MICRO 2018, section IV and table II.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from costmodel.hardware.parts import SourcedPart, load_part
from costmodel.spec import Bytes, BytesPerSecond, Seconds

Floats = NDArray[np.float64]
KIND: Literal["pe_array"] = "pe_array"
OUTPUT_BYTES = 4.0
"""of an element of a tile: sums are kept in fp32"""


class PeArray(SourcedPart):
    """One accelerator; all processing elements work on one kernel at a time."""

    kind: Literal["pe_array"] = KIND
    elements: int = Field(ge=1)
    macs_per_element: int = Field(ge=1)
    """products that an element sums in a cycle"""
    cycle_s: Seconds = Field(gt=0)
    sram_bytes: Bytes = Field(gt=0)
    """of one element"""
    memory_bytes_per_s: BytesPerSecond = Field(alias="memory_bandwidth")
    memory_latency_cycles: int = Field(ge=0)
    links: int = Field(ge=1)
    """to other devices and memory nodes"""
    link_bytes_per_s: BytesPerSecond = Field(alias="link_bandwidth")
    """of one link in one direction"""

    @property
    def latency_s(self) -> float:
        """Of a kernel that does nothing."""
        return self.memory_latency_cycles * self.cycle_s

    @property
    def tile(self) -> float:
        """Rows and columns of the outputs that stay on chip."""
        return math.sqrt(self.elements * self.sram_bytes / 2 / OUTPUT_BYTES)

    def product_s(self, sizes: ArrayLike, operand_bytes: ArrayLike, count: ArrayLike = 1.0) -> Floats:
        """Of products side by side, shape (N,): m, n, k are rows of `sizes`, bytes of A, B and C of all of them rows
        of `operand_bytes`, both of shape (3, N)."""
        m, n, k = np.asarray(sizes, np.float64)
        a_bytes, b_bytes, c_bytes = np.asarray(operand_bytes, np.float64)
        rounds = np.ceil(np.asarray(count) * m * n / self.elements) * np.ceil(k / self.macs_per_element)
        traffic_bytes = a_bytes * np.ceil(n / self.tile) + b_bytes * np.ceil(m / self.tile) + c_bytes
        return np.asarray(np.maximum(rounds * self.cycle_s, traffic_bytes / self.memory_bytes_per_s) + self.latency_s)

    def elementwise_s(self, traffic_bytes: ArrayLike) -> Floats:
        """Of kernels that only move data, of the shape of `traffic_bytes`; nothing takes no time."""
        traffic = np.asarray(traffic_bytes, np.float64)
        return np.asarray(np.where(traffic > 0, traffic / self.memory_bytes_per_s + self.latency_s, 0.0))


def load_pe_array(name: str) -> PeArray:
    """An array of the catalog by its name; ValueError names the nearest ones where it is unknown."""
    return load_part(PeArray, KIND, name)
