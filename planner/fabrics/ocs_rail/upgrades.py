"""More of rails of optical circuit switches."""

from collections.abc import Iterator

from costmodel.fabrics import OcsRail
from costmodel.fabrics.ocs_rail import MAX_SWITCHES
from planner.fabrics.upgrades import Upgrade, Upgrades
from planner.model.edit import with_fabric
from planner.model.instance import Instance
from planner.model.plan import Plan


class OcsRailUpgrades(Upgrades):
    """One more server while the switches have ports, one more switch on each rail, faster ports."""

    bandwidth = "port_bandwidth_bytes_per_s"
    bandwidth_name = "the bandwidth of a port"

    def of(self, instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
        fabric = instance.cluster.fabric
        assert isinstance(fabric, OcsRail)
        if fabric.num_servers + fabric.racks <= fabric.ports:
            yield self.of_server(instance)
        if fabric.switches < MAX_SWITCHES:
            switches = fabric.switches + 1
            yield Upgrade.of("one more switch on each rail", lambda: with_fabric(instance, switches=switches))
        yield self.of_bandwidth(instance)
