"""More of servers with pooled memory over photonic I/O."""

from collections.abc import Iterator

from costmodel.fabrics import Sipam
from costmodel.wording import counted
from planner.fabrics.joined_racks import more_links
from planner.fabrics.upgrades import Upgrade, Upgrades
from planner.model.edit import with_fabric
from planner.model.instance import Instance
from planner.model.plan import Plan

MORE_UNITS = 1 / 8
"""of the memory units of a tray"""


class SipamUpgrades(Upgrades):
    """One more server, port of a tray or uplink while the ports of switches suffice, more memory units, and more of
    what joins racks."""

    def of(self, instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
        fabric = instance.cluster.fabric
        assert isinstance(fabric, Sipam)
        if (fabric.servers + 1) * fabric.uplinks <= fabric.switch_ports:
            yield self.of_server(instance)
        more = max(1, round(MORE_UNITS * fabric.units_per_tray))
        units = fabric.units_per_tray + more
        change = counted(more, "more memory unit", "in each tray")
        yield Upgrade.of(change, lambda: with_fabric(instance, units_per_tray=units))
        if fabric.devices_per_server + fabric.ports_per_rail + fabric.trays_per_server <= fabric.switch_ports:
            ports = fabric.tray_ports + 1
            change = "one more port of each tray on each rail"
            yield Upgrade.of(change, lambda: with_fabric(instance, tray_ports=ports))
        fits_rack = fabric.servers * (fabric.uplinks + 1) <= fabric.switch_ports
        if fabric.spine_rails and fits_rack and fabric.devices_per_server + fabric.uplinks < fabric.switch_ports:
            uplinks = fabric.uplinks + 1
            yield Upgrade.of("one more uplink on each spine rail", lambda: with_fabric(instance, uplinks=uplinks))
        yield from more_links.upgrades(instance)
