"""Servers whose accelerators share rings with memory nodes."""

from functools import cached_property
from typing import TYPE_CHECKING

from costmodel.fabrics import MemoryNodeRings
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.packets.memory_ring_drawing import MemoryRingDrawing
    from planner.fabrics.packets.memory_ring_template import MemoryRingTemplate
    from planner.fabrics.packets.memory_ring_upgrades import MemoryRingUpgrades


class MemoryRingPlugin(FabricPlugin):
    """Rings of links with memory nodes inside each server, packets between servers."""

    schema = MemoryNodeRings

    @cached_property
    def upgrades(self) -> "MemoryRingUpgrades":
        from planner.fabrics.packets.memory_ring_upgrades import MemoryRingUpgrades

        return MemoryRingUpgrades()

    @cached_property
    def drawing(self) -> "MemoryRingDrawing":
        from planner.fabrics.packets.memory_ring_drawing import MemoryRingDrawing

        return MemoryRingDrawing()

    @cached_property
    def template(self) -> "MemoryRingTemplate":
        from planner.fabrics.packets.memory_ring_template import MemoryRingTemplate

        return MemoryRingTemplate()
