"""Local memory of devices that are alike but for it, so that all of them are priced at once."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from costmodel.hardware.device import Device

Floats = NDArray[np.float64]
Ints = NDArray[np.integer[Any]]


@dataclass(frozen=True)
class MemoryColumns:
    """What a device's memory decides: of each row, shape (R,), or the same of all rows."""

    capacity_bytes: Floats | float
    bytes_per_s: Floats | float
    """peak"""
    first_byte_s: Floats | float
    """that each operator waits for a memory farther than stacks beside the die"""
    launch_s: Floats | float
    """of an operator with that wait, where none was fitted"""
    j_per_byte: Floats | float
    power_limit_w: Floats | float
    """of the device with it; infinite where unknown"""

    @classmethod
    def of(cls, device: Device) -> Self:
        """Of one device."""
        return cls(*_numbers(device))

    @classmethod
    def of_each(cls, devices: Sequence[Device]) -> Self:
        """Of several devices, one a row."""
        return cls(*np.array([_numbers(device) for device in devices]).T)

    def take(self, rows: Ints) -> Self:
        """The memory of these rows, of those of several devices."""
        return type(self)(*(np.asarray(getattr(self, field.name))[rows] for field in fields(self)))


def _numbers(device: Device) -> tuple[float, ...]:
    limit_w = np.inf if device.power_limit_w is None else device.power_limit_w
    times = device.first_byte_s, device.launch_s
    return device.capacity_bytes, device.memory_bytes_per_s, *times, device.memory_j_per_byte, limit_w


Memories = tuple[MemoryColumns, Ints] | None
"""in place of a device's own, where there are several, and which of them each mapping has, shape (M,)"""


def peaks(memories: Memories) -> Floats | None:
    """Peak of the memory of each mapping, (M,); None where all have the device's own."""
    return None if memories is None else np.asarray(memories[0].take(memories[1]).bytes_per_s)
