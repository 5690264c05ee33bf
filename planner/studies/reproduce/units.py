"""Units that published figures are given in, as factors to the SI numbers that experiments return."""

from collections.abc import Mapping
from types import MappingProxyType

UNITS: Mapping[str, float] = MappingProxyType(
    {
        "": 1.0, "x": 1.0, "%": 0.01,
        "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9,
        "B": 1.0, "MB": 1e6, "GB": 1e9, "TB": 1e12, "GiB": 2.0**30, "TiB": 2.0**40,
        "B/s": 1.0, "GB/s": 1e9, "TB/s": 1e12, "Gb/s": 1e9 / 8, "Tb/s": 1e12 / 8,
        "J": 1.0, "kJ": 1e3, "MJ": 1e6, "W": 1.0, "kW": 1e3, "pJ/bit": 8e-12,
        "GMAC": 1e9, "GB/W": 1e9, "TFLOP/s": 1e12, "FLOP/B": 1.0,
    }
)  # fmt: skip
"""unit -> SI value of one; energy per bit counts as energy per byte, rates in bits as rates in bytes"""
