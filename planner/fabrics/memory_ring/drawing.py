"""Rings of a node, and why their fabric draws no circuits."""

from typing import Any

from costmodel.fabrics import MemoryNodeRings
from planner.fabrics.drawing import Drawing
from planner.model.cluster import Cluster


class MemoryRingDrawing(Drawing):
    """Links are fixed."""

    memory_unit = "DIMM"
    memory_port = "memory node"
    why_none = "Links of nodes and to memory nodes are fixed, packets go between nodes: this fabric has no circuits."

    def own_view(self, cluster: Cluster) -> dict[str, Any] | None:
        """For each ring the memory nodes after one device and the next ones, again and again around it."""
        fabric = cluster.fabric
        assert isinstance(fabric, MemoryNodeRings)
        node = fabric.node
        plain = [[0]] * (node.num_rings - len(node.gaps))
        return {"kind": "rings", "rings": [*plain, *map(list, node.gaps)]}
