"""More of servers whose accelerators divide optical ports between memory and network."""

from collections.abc import Iterator

from costmodel.fabrics import DividedPorts
from costmodel.hardware.memory.providers import Appliances
from planner.fabrics.upgrades import Upgrade, Upgrades
from planner.model.edit import edited, with_fabric
from planner.model.instance import Instance
from planner.model.plan import Plan


class DividedPortsUpgrades(Upgrades):
    """One more appliance in each server, and one more optical port of each accelerator while it has room."""

    def of(self, instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
        yield from super().of(instance, plan)
        fabric = instance.cluster.fabric
        assert isinstance(fabric, DividedPorts)
        if isinstance(fabric.memory, Appliances):
            more = edited(fabric.memory, per_server=fabric.memory.per_server + 1)
            yield Upgrade("one more appliance in each server", with_fabric(instance, memory=more))
            wider = edited(fabric.memory, ports=fabric.memory.ports + 1)
            if wider.ports <= wider.all_ports:
                yield Upgrade("one more optical port of each accelerator", with_fabric(instance, memory=wider))
