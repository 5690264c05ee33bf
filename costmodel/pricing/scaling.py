"""Fitted numbers on a device on which nothing was fitted: in proportion to the published peaks of both.

| scaling | in proportion to | seen on A100 and H100, each fitted alone |
|---|---|---|
| by_cycles | seconds of the processor's clock | start of kernels and thread blocks: 1.2 to 1.4 of 1.30 |
| by_link | rate of the links in a node | 0.72 and 0.77 of the peak in bulk |
| by_operands | matrix peak of a processor | ports to the cache: 0.0157 and 0.0158 bytes per FLOP |
| by_stream, by_stream_seconds | a processor's share of the memory peak | decode: 1.95 and 2.09, 3.05 and 2.97 of it |

A processor that is the same (matrix peak and clock) streams as it did, whatever memory is beside it: H200 and H100.
What is no key of a table is a share or a constant of the software, and stays.
"""

from collections.abc import Callable, Mapping
from math import isclose

from costmodel.hardware.device import BYTES_OF_PRECISION, Device

Scaling = Callable[[Device, Device], float]
"""factor of a number from the device where it was fitted to another"""
SAME = 0.02
"""relative difference of two peaks that are published with rounding"""


def scaled(
    numbers: Mapping[str, float], scalings: Mapping[str, Scaling], fitted: Device, device: Device
) -> dict[str, float]:
    """A curve's numbers, fitted on one device, for another."""
    return {
        name: value * scalings[name](fitted, device) if name in scalings else value for name, value in numbers.items()
    }


def by_cycles(fitted: Device, device: Device) -> float:
    """Of seconds that pass by the clock of the processors."""
    return fitted.clock_hz / device.clock_hz


def by_link(fitted: Device, device: Device) -> float:
    """Of bytes per second over the links of a node."""
    return device.link_bytes_per_s / fitted.link_bytes_per_s


def by_operands(fitted: Device, device: Device) -> float:
    """Of bytes per second between one processor and the cache."""
    return _matrix_rate(device) / _matrix_rate(fitted)


def by_stream(fitted: Device, device: Device) -> float:
    """Of bytes per second that all processors pass on."""
    return _stream_rate(fitted, device) * device.num_sm / fitted.num_sm


def by_stream_seconds(fitted: Device, device: Device) -> float:
    """Of seconds that one processor takes to pass on a token."""
    return 1.0 / _stream_rate(fitted, device)


def _stream_rate(fitted: Device, device: Device) -> float:
    """Ratio of the rates at which a processor passes on what comes from memory."""
    is_same = isclose(_matrix_rate(device), _matrix_rate(fitted), rel_tol=SAME)
    if is_same and isclose(device.clock_hz, fitted.clock_hz, rel_tol=SAME):
        return 1.0
    return (device.memory_bytes_per_s / device.num_sm) / (fitted.memory_bytes_per_s / fitted.num_sm)


def _matrix_rate(device: Device) -> float:
    """FLOP/s of one processor in 16 bits; other precisions count by their bytes where it has no such peak."""
    peaks = device.flops_per_s
    wide = peaks.get("bf16") or peaks.get("fp16")
    return (wide or max(rate * BYTES_OF_PRECISION[name] / 2 for name, rate in peaks.items())) / device.num_sm
