"""An accelerator with another memory than its own."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from costmodel.hardware.memory.limits import BandwidthLimit, binding_limit, effective_bytes_per_s
from costmodel.hardware.memory.tier import MemoryTier

if TYPE_CHECKING:
    from costmodel.hardware.device import Device


def with_memory(
    device: "Device", memory: MemoryTier, *, limits: Iterable[BandwidthLimit] = (), name: str | None = None
) -> "Device":
    """The device whose local memory is `memory`, behind `limits`; the rest stays.

    Its name is <device>+<memory> unless given, and it has no aliases: curves that were fitted on the device
    do not follow it of themselves.
    """
    parts = tuple(limits)
    bytes_per_s = effective_bytes_per_s(memory.bandwidth_bytes_per_s, parts)
    binding = binding_limit(memory.bandwidth_bytes_per_s, parts)
    changed = {
        "name": name or f"{device.name}+{memory.name}",
        "aliases": (),
        "capacity_bytes": memory.capacity_bytes,
        "memory_bytes_per_s": bytes_per_s,
        "memory_j_per_byte": memory.energy_j_per_byte,
        "sources": device.sources
        | {
            "capacity": memory.source,
            "memory_bandwidth": f"{memory.source}; set by {binding}",
            "memory_energy": memory.source,
        },
    }
    return type(device).model_validate(device.model_dump(by_alias=False) | changed)
