"""Where the search in racks with pooled memory starts from."""

from collections.abc import Sequence

from costmodel.fabrics import Sipam
from planner.fabrics.starts import Starts
from planner.model.cluster import Cluster


class PoolStarts(Starts):
    """Best fit, and the published loop where it divides memory."""

    def heuristics(self, cluster: Cluster) -> Sequence[str]:
        assert isinstance(cluster.fabric, Sipam)
        return ("priced", "best_fit", *(() if cluster.fabric.local_memory else ("sipam_loop",)))
