"""Optical switches above racks: what is plugged in, and what a plan joins there."""

from collections.abc import Iterable, Iterator

from costmodel.fabrics import FabricBase, UpperSwitches
from planner.fabrics.rack_claims import rack_name
from planner.fabrics.switch_ports import BOTH, End, SwitchPorts, states_of
from planner.model.instance import Instance
from planner.model.plan import Assignment, SwitchState


class JoinedSwitchPorts(SwitchPorts):
    """Ports of all racks at each switch; nothing where racks are joined otherwise, or not at all."""

    def ends(self, fabric: FabricBase) -> Iterator[End]:
        upper = fabric.upper_layer
        if not isinstance(upper, UpperSwitches):
            return
        for switch, ports in upper.ports_by_switch(fabric.racks).items():
            for rack in range(fabric.racks):
                for port in ports:
                    yield from (End(switch, f"{rack_name(rack)}.p{port}", direction) for direction in BOTH)

    def states(self, instance: Instance, assignments: Iterable[Assignment]) -> tuple[SwitchState, ...]:
        assignments = list(assignments)
        above = states_of(
            (circuit.over, circuit.source, circuit.destination)
            for assignment in assignments
            for circuit in assignment.upper
            if not circuit.wavelengths
        )
        return (*above, *super().states(instance, assignments))
