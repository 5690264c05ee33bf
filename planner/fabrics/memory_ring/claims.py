"""Claims of jobs whose devices share memory nodes: DIMMs of the node on either side of each rank."""

from collections import Counter
from collections.abc import Iterable, Mapping

from costmodel.fabrics import FabricBase, MemoryNodeRings
from planner.fabrics.claims import JobClaims, Placed
from planner.model.cluster import Cluster


class MemoryRingClaims(JobClaims):
    """Each rank takes as many DIMMs of the node before its slot as of that after it, and both must work."""

    def counted(self, fabric: FabricBase, job: Placed) -> Mapping[str, int]:
        each = (job.configuration.memory_units or 0) // 2
        found = Counter({_dimms_of(node): each * ranks for node, ranks in _beside(fabric, job).items()})
        return dict(sorted(found.items()))

    def relied_on(self, fabric: FabricBase, job: Placed) -> Iterable[str]:
        """Nodes of which it holds DIMMs."""
        return sorted(_beside(fabric, job))

    def capacity(self, cluster: Cluster) -> Mapping[str, int]:
        """DIMMs of all nodes: jobs beside one that failed rely on it."""
        fabric = cluster.fabric
        assert isinstance(fabric, MemoryNodeRings)
        if not fabric.shared_nodes:
            return {}
        nodes = range(fabric.devices_per_server)
        every = (_node(fabric, server, node) for server in range(fabric.num_servers) for node in nodes)
        return {_dimms_of(node): fabric.node_dimms for node in every}


def _beside(fabric: FabricBase, job: Placed) -> Counter[str]:
    """Ranks beside each node, where they hold DIMMs."""
    assert isinstance(fabric, MemoryNodeRings)
    found = Counter[str]()
    if fabric.shared_nodes and job.configuration.memory_units:
        for server, slot in map(fabric.parse_device, job.devices):
            for node in (slot, (slot - 1) % fabric.devices_per_server):
                found[_node(fabric, server, node)] += 1
    return found


def _node(fabric: MemoryNodeRings, server: int, node: int) -> str:
    return f"{fabric.server_name(server)}.n{node}"


def _dimms_of(node: str) -> str:
    return f"DIMMs of {node}"
