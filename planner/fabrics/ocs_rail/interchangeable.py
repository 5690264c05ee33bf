"""Switches of rails that can stand for each other."""

from collections.abc import Hashable

from planner.fabrics.interchangeable import Interchangeable
from planner.model.cluster import Cluster


class OcsRailInterchangeable(Interchangeable):
    """The working switches of a rail are alike."""

    def class_of(self, cluster: Cluster, kind: str, part: str) -> Hashable:
        return part.rpartition("#")[0] if kind == "switch" else super().class_of(cluster, kind, part)
