"""Tiles and fibers that can stand for each other."""

from collections.abc import Hashable

from costmodel.fabrics import Lightpath
from planner.fabrics.interchangeable import Interchangeable
from planner.model.cluster import Cluster


class LightpathInterchangeable(Interchangeable):
    """The fibers of a pair of servers are alike where slots do not matter."""

    def class_of(self, cluster: Cluster, kind: str, part: str) -> Hashable:
        if kind == "fiber" and not self.slots_matter(cluster):
            return part.rpartition("#")[0]
        return super().class_of(cluster, kind, part)

    def slots_matter(self, cluster: Cluster) -> bool:
        assert isinstance(cluster.fabric, Lightpath)
        return cluster.fabric.slots_matter
