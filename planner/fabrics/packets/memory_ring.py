"""Servers whose accelerators share rings with memory nodes."""

from costmodel.fabrics import MemoryNodeRings
from planner.fabrics.plugin import FabricPlugin


class MemoryRingPlugin(FabricPlugin):
    """Rings of links with memory nodes inside each server, packets between servers."""

    schema = MemoryNodeRings
