"""Candidates that can still matter over fibers."""

from planner.fabrics.server_shares.dominance import SharedDominance
from planner.model.cluster import Cluster


class LightpathDominance(SharedDominance):
    """Circuits inside a server matter where slots are not alike, or lasers have failed."""

    def depends_on_slots(self, cluster: Cluster) -> bool:
        return cluster.fabric.slots_matter or cluster.has_failed_light
