"""Optical switches above racks: what is plugged in, and what a plan joins there."""

import re
from collections.abc import Iterable, Iterator, Sequence

from costmodel.fabrics import FabricBase, UpperSwitches
from planner.fabrics.rack_claims import rack_name
from planner.fabrics.switch_ports import BOTH, Connection, End, InPhase, SwitchPorts, states_of
from planner.model.instance import Instance
from planner.model.plan import Assignment, SwitchState

_PORT = re.compile(r"r\d+\.p\d+")
"""of a rack, at a switch"""


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

    def connections(self, fabric: FabricBase, circuits: Sequence[InPhase]) -> Iterator[Connection]:
        """Circuits between ports of racks as their one step, the switch, has them; all others as they are."""
        inside = list[InPhase]()
        for phase, circuit in circuits:
            if _PORT.fullmatch(circuit.source):
                yield circuit.fibers[0], circuit.source, circuit.destination
            else:
                inside.append((phase, circuit))
        yield from super().connections(fabric, inside)

    def states(self, instance: Instance, assignments: Iterable[Assignment]) -> tuple[SwitchState, ...]:
        assignments = list(assignments)
        return (*states_above(assignments), *super().states(instance, assignments))


def states_above(assignments: Iterable[Assignment]) -> tuple[SwitchState, ...]:
    """What switches above racks join."""
    return states_of(
        (circuit.over, circuit.source, circuit.destination)
        for assignment in assignments
        for circuit in assignment.upper
        if not circuit.wavelengths
    )
