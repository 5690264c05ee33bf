"""Switches of rails: every accelerator of the rail has one port, in and out, into each of them."""

from collections.abc import Iterable, Iterator

from costmodel.fabrics import FabricBase, OcsRail
from planner.fabrics.switch_ports import BOTH, End, SwitchPorts, states_of
from planner.model.instance import Instance
from planner.model.plan import Assignment, SwitchState


class RailSwitchPorts(SwitchPorts):
    """The port of a server has its number on every switch."""

    def ends(self, fabric: FabricBase) -> Iterator[End]:
        for switch in fabric.switch_names:
            rail, _ = fabric.parse_switch(switch)
            for server in range(fabric.num_servers):
                yield from (End(switch, fabric.device_name(server, rail), direction) for direction in BOTH)

    def states(self, instance: Instance, assignments: Iterable[Assignment]) -> tuple[SwitchState, ...]:
        fabric = instance.cluster.fabric
        assert isinstance(fabric, OcsRail)
        return states_of(
            (fabric.switch_name(fabric.parse_device(circuit.source)[1], number), circuit.source, circuit.destination)
            for assignment in assignments
            for held in assignment.circuits
            for circuit in held.circuits
            for number in circuit.wavelengths
        )
