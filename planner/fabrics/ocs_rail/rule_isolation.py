"""A placement alone on rails: servers are alike, and so are the rails of a server."""

from collections.abc import Hashable

from costmodel.fabrics import FabricBase
from planner.checks.isolation import Isolation, numbered
from planner.model.cluster import Cluster
from planner.model.lying import Lying


class OcsRailIsolation(Isolation):
    """Every port of a switch belongs to one accelerator: jobs with circuits of their own share nothing else."""

    def is_checked(self, fabric: FabricBase) -> bool:
        return True

    def lie(self, cluster: Cluster, place: Lying) -> Hashable:
        servers, slots = zip(*place.devices, strict=True)
        return place.wiring.name, numbered(servers), numbered(slots)
