"""Servers on a fat tree of packet switches."""

from functools import cached_property
from typing import TYPE_CHECKING

from costmodel.fabrics import FatTree
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.packets.fat_tree_template import FatTreeTemplate


class FatTreePlugin(FabricPlugin):
    """A fat tree is what the interface takes for granted."""

    schema = FatTree

    @cached_property
    def template(self) -> "FatTreeTemplate":
        from planner.fabrics.packets.fat_tree_template import FatTreeTemplate

        return FatTreeTemplate()
