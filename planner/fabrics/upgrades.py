"""The part of a plug-in that offers more of the cluster, one thing at a time: the rows of `planner marginal`."""

from collections.abc import Iterator
from typing import Any, ClassVar, NamedTuple

from planner.model.edit import edited, with_cluster, with_fabric
from planner.model.instance import Instance
from planner.model.plan import Plan


class Upgrade(NamedTuple):
    """The instance with a larger or better cluster."""

    change: str
    """in words"""
    instance: Instance
    is_addition: bool = True
    """whether every plan of the cluster as it is stays one, so that nothing can be lost"""


class Upgrades:
    """One more server, and twice a bandwidth: of the network where servers are joined by packets."""

    bandwidth: ClassVar[str] = "network_bandwidth_bytes_per_s"
    """field of the schema that is doubled"""
    bandwidth_name: ClassVar[str] = "the network bandwidth"
    """in words"""

    def of(self, instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
        """All upgrades, at least one; `plan` is the best plan of the instance as it is, which tells what is scarce."""
        yield self.of_server(instance)
        yield self.of_bandwidth(instance)

    def with_server(self, instance: Instance) -> Instance:
        """The instance with one more server in each rack."""
        fabric = instance.cluster.fabric
        return with_cluster(instance, fabric=edited(fabric, servers=fabric.servers + 1))

    def of_server(self, instance: Instance) -> Upgrade:
        each = "" if instance.cluster.fabric.racks == 1 else " in each rack"
        return Upgrade(f"one more server{each}{self.joined_by(instance)}", self.with_server(instance))

    def joined_by(self, instance: Instance) -> str:
        """What a new server is joined to the others by, in words; empty where nothing need be said."""
        return ""

    def of_bandwidth(self, instance: Instance) -> Upgrade:
        doubled: dict[str, Any] = {self.bandwidth: 2 * getattr(instance.cluster.fabric, self.bandwidth)}
        return Upgrade(f"twice {self.bandwidth_name}", with_fabric(instance, **doubled))
