"""More of servers with rings of links and memory nodes."""

from collections.abc import Iterator

from costmodel.fabrics import MemoryNodeRings
from costmodel.wording import counted
from planner.fabrics.upgrades import Upgrade, Upgrades
from planner.model.edit import edited, with_fabric
from planner.model.instance import Instance
from planner.model.plan import Plan


class MemoryRingUpgrades(Upgrades):
    """One more ring, which takes two links of each accelerator, faster links, and more memory in each node."""

    def of(self, instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
        yield from super().of(instance, plan)
        fabric = instance.cluster.fabric
        assert isinstance(fabric, MemoryNodeRings)
        node, memory = fabric.node, fabric.node.node
        assert memory is not None
        links = edited(node, links=node.links + 2)
        yield Upgrade.of("one more ring of links in each node", lambda: with_fabric(instance, node=links))
        faster = edited(node, link_bandwidth_bytes_per_s=2 * node.link_bandwidth_bytes_per_s)
        yield Upgrade.of("twice the bandwidth of a link", lambda: with_fabric(instance, node=faster))
        more = edited(node, node=edited(memory, dimms=memory.dimms + memory.groups))
        count = counted(memory.groups, "more DIMM")
        yield Upgrade.of(f"{count} in each memory node", lambda: with_fabric(instance, node=more))
