"""What is plugged into the optical switches of a fabric, and what a plan joins there."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from costmodel.fabrics import FabricBase
from planner.model.instance import Instance
from planner.model.plan import Assignment, SwitchState

Direction = Literal["input", "output"]
"""light from the end into the switch, or from the switch to the end"""
BOTH: tuple[Direction, Direction] = ("input", "output")


class End(NamedTuple):
    """One end of a fiber, the other end of which is a port of a switch."""

    switch: str
    end: str
    """an accelerator, one face of it, a port of a tray, an uplink"""
    direction: Direction


class SwitchPorts:
    """No optical switches."""

    def ends(self, fabric: FabricBase) -> Iterator[End]:
        """All that is plugged in, switch by switch in the order of `switch_names`; each in the order of its ports."""
        yield from ()

    def states(self, instance: Instance, assignments: Iterable[Assignment]) -> tuple[SwitchState, ...]:
        """What each switch joins, input to output by the names of ends, once all jobs of a plan have started."""
        return ()


def states_of(connections: Iterable[tuple[str, str, str]]) -> tuple[SwitchState, ...]:
    """States of switches from (switch, input, output)."""
    by_switch: dict[str, list[tuple[str, str]]] = {}
    for switch, source, destination in connections:
        by_switch.setdefault(switch, []).append((source, destination))
    return tuple(
        SwitchState(switch=switch, connections=tuple(sorted(pairs))) for switch, pairs in sorted(by_switch.items())
    )
