"""Devices of a choice by the share of reads that a cache has: each made once."""

from costmodel.hardware.device import Device, load_device
from costmodel.hardware.memory.choices import CachedDevice


def test_a_device_is_made_once_for_each_share() -> None:
    asked: list[float] = []

    def made(hit: float) -> Device:
        asked.append(hit)
        return load_device("h100-sxm").model_copy(update={"memory_bytes_per_s": 1e12 * (1 + hit)})

    cached = CachedDevice(72e9, made)
    assert [cached.at(hit).memory_bytes_per_s for hit in (0.0, 1.0, 0.0)] == [1e12, 2e12, 1e12]
    assert asked == [0.0, 1.0]
