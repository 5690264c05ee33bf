"""Claims of jobs whose devices share memory nodes: DIMMs of the node on either side of each rank."""

from collections import Counter
from collections.abc import Mapping

from costmodel.fabrics import FabricBase, MemoryNodeRings
from planner.fabrics.claims import JobClaims, Placed
from planner.model.cluster import Cluster


class MemoryRingClaims(JobClaims):
    """Each rank takes as many DIMMs of the node before its slot as of that after it."""

    def counted(self, fabric: FabricBase, job: Placed) -> Mapping[str, int]:
        assert isinstance(fabric, MemoryNodeRings)
        each, nodes = (job.configuration.memory_units or 0) // 2, fabric.devices_per_server
        if not (fabric.shared_nodes and each):
            return {}
        found = Counter[str]()
        for server, slot in map(fabric.parse_device, job.devices):
            for node in (slot, (slot - 1) % nodes):
                found[_dimms_of(fabric, server, node)] += each
        return dict(sorted(found.items()))

    def capacity(self, cluster: Cluster) -> Mapping[str, int]:
        fabric = cluster.fabric
        assert isinstance(fabric, MemoryNodeRings)
        if not fabric.shared_nodes:
            return {}
        nodes = range(fabric.devices_per_server)
        return {_dimms_of(fabric, s, node): fabric.node_dimms for s in range(fabric.num_servers) for node in nodes}


def _dimms_of(fabric: MemoryNodeRings, server: int, node: int) -> str:
    return f"DIMMs of {fabric.server_name(server)}.n{node}"
