"""Servers whose accelerators share rings with memory nodes."""

from typing import ClassVar

from costmodel.fabrics import MemoryNodeRings
from planner.fabrics.plugin import FabricPlugin


class MemoryRingPlugin(FabricPlugin):
    """Rings of links with memory nodes inside each server, packets between servers."""

    schema = MemoryNodeRings
    parts: ClassVar = {
        "upgrades": "planner.fabrics.packets.memory_ring_upgrades:MemoryRingUpgrades",
        "drawing": "planner.fabrics.packets.memory_ring_drawing:MemoryRingDrawing",
        "template": "planner.fabrics.packets.memory_ring_template:MemoryRingTemplate",
    }
