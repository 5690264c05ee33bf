"""Partitions of a TPU cube, as labels of its nodes name them: which node is which host of it.

GKE labels each node of a 4 x 4 x 4 cube with the partition of each shape that it is in. They halve the cube again and
again, so that nodes in the order of their partitions are hosts in the order of their chips; which of two halves comes
first no label tells, and for boxes that are partitions it does not matter.
"""

from collections.abc import Mapping, Sequence

from planner.integrations.inventories.inventory import InventoryNode

SHAPES = ((2, 4, 4), (2, 2, 4), (2, 2, 2), (2, 2, 1))
"""chips along x, y and z of a partition that a cube is divided into; the last one is a host"""
CUBE = "cloud.google.com/gke-tpu-partition-4x4x4-id"
LABELS = tuple(f"cloud.google.com/gke-tpu-partition-{a}x{b}x{c}-id" for a, b, c in SHAPES)
HOSTS = 16
"""of a cube"""


def partitions_named(labels: Mapping[str, str]) -> tuple[str, ...]:
    """Partitions that a node is in, the largest first; none where it has not all labels."""
    return tuple(labels[label] for label in LABELS) if {CUBE, *LABELS} <= {*labels} else ()


def are_hosts(nodes: Sequence[InventoryNode]) -> bool:
    """True if nodes, in this order, are all hosts of a cube: each half of each partition has its own name."""
    if len(nodes) != HOSTS or any(len(node.partitions) != len(SHAPES) for node in nodes):
        return False
    for level in range(len(SHAPES)):
        names, size = [node.partitions[level] for node in nodes], HOSTS >> level + 1
        halves = [{*names[first : first + size]} for first in range(0, HOSTS, size)]
        if any(len(half) > 1 for half in halves) or len({*names}) < len(halves):
            return False
    return True
