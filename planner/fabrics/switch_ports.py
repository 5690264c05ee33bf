"""What is plugged into the optical switches of a fabric, and what a plan joins there."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from costmodel.fabrics import FabricBase
from planner.model.instance import Instance
from planner.model.plan import Assignment, Circuit, SwitchState

Direction = Literal["input", "output"]
"""light from the end into the switch, or from the switch to the end"""
Connection = tuple[str, str, str]
"""(switch, input, output), both by the names of ends"""
InPhase = tuple[str | None, Circuit]
"""a circuit and the one phase of the workload in which it is on; None: in all"""
BOTH: tuple[Direction, Direction] = ("input", "output")


class End(NamedTuple):
    """One end of a fiber, the other end of which is a port of a switch."""

    switch: str
    end: str
    """an accelerator, one face of it, a port of a tray, an uplink"""
    direction: Direction


class SwitchPorts:
    """Optical switches that have all circuits of a job on while it runs; none, as given here."""

    def ends(self, fabric: FabricBase) -> Iterator[End]:
        """All that is plugged in, switch by switch in the order of `switch_names`; each in the order of its ports."""
        yield from ()

    def states(self, instance: Instance, assignments: Iterable[Assignment]) -> tuple[SwitchState, ...]:
        """What each switch joins, input to output by the names of ends, once all jobs of a plan have started."""
        return states_of(
            connection
            for assignment in assignments
            for connection in self.connections(
                instance.cluster.fabric,
                [(held.phase, circuit) for held in assignment.circuits for circuit in held.circuits],
            )
        )

    def connections(self, fabric: FabricBase, circuits: Sequence[InPhase]) -> Iterator[Connection]:
        """What switches join once one job has started, from its circuits as drivers get them: those into memory are
        circuits too, both ways between accelerator and port."""
        for _, circuit in circuits:
            yield from self.of_circuit(fabric, circuit)

    def of_circuit(self, fabric: FabricBase, circuit: Circuit) -> Iterator[Connection]:
        """What one circuit joins."""
        yield from ()

    def part(self, fabric: FabricBase, switch: str, end: str) -> str:
        """The part of the fabric, in the words of `whatif.failures`, that is lost where no light passes at an end."""
        name = end.partition(":")[0]
        for kind, parts in fabric.inventory().items():
            try:
                parts.parse(name)
            except ValueError:
                continue
            return f"{name}:port" if kind == "tile" else name
        return switch


def states_of(connections: Iterable[Connection]) -> tuple[SwitchState, ...]:
    """States of switches."""
    by_switch: dict[str, list[tuple[str, str]]] = {}
    for switch, source, destination in connections:
        by_switch.setdefault(switch, []).append((source, destination))
    return tuple(
        SwitchState(switch=switch, connections=tuple(sorted(pairs))) for switch, pairs in sorted(by_switch.items())
    )
