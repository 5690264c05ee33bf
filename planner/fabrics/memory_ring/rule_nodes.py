"""Memory nodes that devices share: no more DIMMs of a node are held than it has."""

from collections import Counter
from collections.abc import Iterator

from costmodel.fabrics import MemoryNodeRings
from planner.checks.names import admitted, tile_of
from planner.model.instance import Instance
from planner.model.plan import Plan
from planner.model.violation import Violation


def check_nodes(instance: Instance, plan: Plan) -> Iterator[Violation]:
    """A rank at slot i takes half of its DIMMs of node i, which follows it, and half of node i - 1; with these come
    their capacity and their bandwidth."""
    fabric = instance.cluster.fabric
    assert isinstance(fabric, MemoryNodeRings)
    if not fabric.shared_nodes or fabric.node.node is None:
        return
    held: Counter[tuple[int, int]] = Counter()
    for _, assignment in admitted(instance, plan):
        units = assignment.configuration.memory_units or 0
        for place in (tile_of(fabric, name) for name in assignment.devices):
            if place is not None and units:
                server, slot = place
                held[server, slot] += units // 2
                held[server, slot - 1 if slot else fabric.node.devices - 1] += units // 2
    most = fabric.node.node.dimms
    for (server, node), number in sorted(held.items()):
        if number > most:
            name = f"{fabric.server_name(server)}.n{node}"
            message = f"{name}: {number} DIMMs of the memory node are held, it has {most}"
            yield Violation("memory_nodes", name, message, float(number - most))
