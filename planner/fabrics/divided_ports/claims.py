"""Claims of jobs whose servers share appliances: modules, ports and units of a second tier, counted by server."""

from collections import Counter
from collections.abc import Mapping

from costmodel.fabrics import DividedPorts, FabricBase
from planner.fabrics.claims import JobClaims, Placed
from planner.model.cluster import Cluster

SHARED = ("modules", "ports", "second-tier units")
"""of appliances, by server"""


class DividedPortsClaims(JobClaims):
    """Each rank takes modules, ports and units of its server, where these are not its accelerator's own."""

    def counted(self, fabric: FabricBase, job: Placed) -> Mapping[str, int]:
        assert isinstance(fabric, DividedPorts)
        if fabric.shared is None:
            return {}
        ranks = Counter(fabric.parse_device(name)[0] for name in job.devices)
        return {
            f"{what} of {fabric.server_name(server)}": number * amount
            for what, amount in zip(SHARED, job.configuration.held, strict=True)
            if amount is not None
            for server, number in sorted(ranks.items())
        }

    def capacity(self, cluster: Cluster) -> Mapping[str, int]:
        fabric = cluster.fabric
        assert isinstance(fabric, DividedPorts)
        if fabric.shared is None:
            return {}
        there = dict(zip(SHARED, fabric.shared, strict=True))
        servers = [fabric.server_name(server) for server in range(fabric.num_servers)]
        return {f"{what} of {server}": most for what, most in there.items() for server in servers}
