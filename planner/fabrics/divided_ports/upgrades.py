"""More of servers whose accelerators divide optical ports between memory and network."""

from collections.abc import Iterator

from costmodel.fabrics import DividedPorts
from costmodel.hardware.memory.providers import Appliances
from planner.fabrics.upgrades import Upgrade, Upgrades
from planner.model.edit import edited, with_fabric
from planner.model.instance import Instance
from planner.model.plan import Plan


class DividedPortsUpgrades(Upgrades):
    """One more appliance in each server, one more optical port of each accelerator while it has room, and one more unit
    of a second tier behind each appliance or module that has one."""

    def of(self, instance: Instance, plan: Plan | None) -> Iterator[Upgrade]:
        yield from super().of(instance, plan)
        fabric = instance.cluster.fabric
        assert isinstance(fabric, DividedPorts)
        behind = fabric.memory.second_tier
        if behind is not None:
            one = "appliance" if isinstance(fabric.memory, Appliances) else "module"
            deeper = edited(fabric.memory, second_tier=edited(behind, units=behind.units + 1))
            change = f"one more unit of the second tier behind each {one}"
            yield Upgrade.of(change, lambda: with_fabric(instance, memory=deeper))
        if isinstance(fabric.memory, Appliances):
            more = edited(fabric.memory, per_server=fabric.memory.per_server + 1)
            yield Upgrade.of("one more appliance in each server", lambda: with_fabric(instance, memory=more))
            if fabric.memory.ports < fabric.memory.all_ports:
                wider = edited(fabric.memory, ports=fabric.memory.ports + 1)
                change = "one more optical port of each accelerator"
                yield Upgrade.of(change, lambda: with_fabric(instance, memory=wider))
