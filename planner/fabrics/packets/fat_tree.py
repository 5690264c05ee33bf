"""Servers on a fat tree of packet switches."""

from typing import ClassVar

from costmodel.fabrics import FatTree
from planner.fabrics.plugin import FabricPlugin


class FatTreePlugin(FabricPlugin):
    """A fat tree is what the interface takes for granted."""

    schema = FatTree
    parts: ClassVar = {
        "template": "planner.fabrics.packets.fat_tree_template:FatTreeTemplate",
        "starts": "planner.fabrics.packets.starts:PacketStarts",
    }
