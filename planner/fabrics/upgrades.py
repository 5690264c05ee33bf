"""The part of a plug-in that offers more of the cluster, one thing at a time: the rows of `planner marginal`."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, NamedTuple, Self

from pydantic import ValidationError

from costmodel.fabrics import UpperPackets
from planner.model.edit import edited, with_cluster, with_fabric
from planner.model.instance import Instance
from planner.model.plan import Plan


class Upgrade(NamedTuple):
    """The instance with a larger or better cluster."""

    change: str
    """in words"""
    instance: Instance | None
    """None where nothing can be compared: a resident runs in a way that is not listed on it, or it is too large"""
    is_addition: bool = True
    """whether every plan of the cluster as it is stays one, so that nothing can be lost"""

    @classmethod
    def of(cls, change: str, make: Callable[[], Instance], *, is_addition: bool = True) -> Self:
        try:
            return cls(change, make(), is_addition)
        except ValidationError:
            return cls(change, None, is_addition)


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
        """With packets between racks their links grow with the accelerators, and shares of these change."""
        fabric = instance.cluster.fabric
        each = "" if fabric.racks == 1 else " in each rack"
        is_addition = not isinstance(fabric.upper_layer, UpperPackets)
        change = f"one more server{each}{self.joined_by(instance)}"
        return Upgrade.of(change, lambda: self.with_server(instance), is_addition=is_addition)

    def joined_by(self, instance: Instance) -> str:
        """What a new server is joined to the others by, in words; empty where nothing need be said."""
        return ""

    def of_bandwidth(self, instance: Instance) -> Upgrade:
        doubled: dict[str, Any] = {self.bandwidth: 2 * getattr(instance.cluster.fabric, self.bandwidth)}
        return Upgrade.of(f"twice {self.bandwidth_name}", lambda: with_fabric(instance, **doubled))
