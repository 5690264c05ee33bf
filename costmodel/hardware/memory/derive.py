"""An accelerator with another memory than its own."""

from collections.abc import Iterable

from costmodel.hardware.device import Device, device_names
from costmodel.hardware.memory.limits import BandwidthLimit, binding_limit, effective_bytes_per_s
from costmodel.hardware.memory.tier import MemoryTier


def with_memory(
    device: Device, memory: MemoryTier, *, limits: Iterable[BandwidthLimit] = (), name: str | None = None
) -> Device:
    """The device whose local memory is `memory`, behind `limits`; the rest stays.

    Its name is <device>+<memory> unless given, and it has no aliases; it is like the device, whose fitted curves hold
    with the new peaks.
    """
    parts = tuple(limits)
    bytes_per_s = effective_bytes_per_s(memory.bandwidth_bytes_per_s, parts)
    binding = binding_limit(memory.bandwidth_bytes_per_s, parts)
    changed = {
        "name": name or f"{device.name}+{memory.name}",
        "aliases": (),
        "like": device.name if device.name in device_names() and name != device.name else device.like,
        "capacity_bytes": memory.capacity_bytes,
        "memory_bytes_per_s": bytes_per_s,
        "memory_j_per_byte": memory.energy_j_per_byte,
        "power_limit_w": _limit_w(device, bytes_per_s * memory.energy_j_per_byte),
        "sources": device.sources
        | {
            "capacity": memory.source,
            "memory_bandwidth": f"{memory.source}; set by {binding}",
            "memory_energy": memory.source,
        },
    }
    return type(device).model_validate(device.model_dump(by_alias=False) | changed)


def _limit_w(device: "Device", memory_w: float) -> float | None:
    """The device's power limit, with what the other memory takes at its peak in place of what its own takes there."""
    own_w = device.memory_bytes_per_s * device.memory_j_per_byte
    return device.power_limit_w and max(device.power_limit_w - own_w, device.idle_w) + memory_w
