"""Memory nodes that devices share: no more DIMMs of a node are held than it has, and none of one that failed."""

from collections import Counter
from collections.abc import Iterator

from costmodel.fabrics import MemoryNodeRings
from planner.checks.names import admitted, tile_of
from planner.model.cluster import Cluster
from planner.model.instance import Instance
from planner.model.plan import Assignment, Plan
from planner.model.violation import Violation


def check_nodes(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """A rank at slot i takes half of its DIMMs of node i, which follows it, and half of node i - 1; with these come
    their capacity and their bandwidth."""
    cluster = instance.cluster
    fabric = cluster.fabric
    assert isinstance(fabric, MemoryNodeRings)
    if not fabric.shared_nodes or fabric.node.node is None:
        return
    held: Counter[str] = Counter()
    for _, assignment in admitted(instance, plan):
        held.update(_held(fabric, assignment))
    for name, number in sorted(held.items()):
        has_failed = name in cluster.health.failed_memory_nodes
        most = 0 if has_failed else fabric.node.node.dimms
        if number > most:
            why = "it has failed" if has_failed else f"it has {most}"
            message = f"{name}: {number} DIMMs of the memory node are held, {why}"
            yield Violation("memory_nodes", name, message, float(number - most))


def lost_nodes(cluster: Cluster, assignment: Assignment) -> list[str]:
    """Failed nodes of which a job holds DIMMs."""
    fabric = cluster.fabric
    assert isinstance(fabric, MemoryNodeRings)
    held = _held(fabric, assignment) if fabric.shared_nodes else {}
    return [name for name in cluster.health.failed_memory_nodes if name in held]


def _held(fabric: MemoryNodeRings, assignment: Assignment) -> Counter[str]:
    """DIMMs by node that the ranks of a job hold."""
    held: Counter[str] = Counter()
    units = assignment.configuration.memory_units or 0
    for place in (tile_of(fabric, name) for name in assignment.devices):
        if place is not None and units:
            server, slot = place
            for node in (slot, slot - 1 if slot else fabric.node.devices - 1):
                held[f"{fabric.server_name(server)}.n{node}"] += units // 2
    return held
