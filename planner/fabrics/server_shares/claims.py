"""Claims of jobs whose servers share parts of memory, counted by server."""

from collections import Counter
from collections.abc import Mapping

from costmodel.fabrics import FabricBase, ServerShares
from planner.fabrics.claims import JobClaims, Placed
from planner.model.cluster import Cluster


class SharedClaims(JobClaims):
    """Each rank takes parts of its server, where these are not its accelerator's own, beside what every job counts."""

    def counted(self, fabric: FabricBase, job: Placed) -> Mapping[str, int]:
        assert isinstance(fabric, ServerShares)
        above = super().counted(fabric, job)
        if fabric.shared is None:
            return above
        ranks = Counter(fabric.parse_device(name)[0] for name in job.devices)
        return {**above} | {
            f"{what} of {fabric.server_name(server)}": number * amount
            for what, amount in zip(fabric.share_names, job.configuration.held, strict=False)
            if amount is not None
            for server, number in sorted(ranks.items())
        }

    def capacity(self, cluster: Cluster) -> Mapping[str, int]:
        fabric, above = cluster.fabric, super().capacity(cluster)
        assert isinstance(fabric, ServerShares)
        if fabric.shared is None:
            return above
        there = dict(zip(fabric.share_names, fabric.shared, strict=True))
        servers = [fabric.server_name(server) for server in range(fabric.num_servers)]
        return {**above} | {f"{what} of {server}": most for what, most in there.items() for server in servers}
