"""Switches between cubes: each has two ports of every cube, one from its + face and one to its - face."""

from collections.abc import Iterator

from costmodel.fabrics import FabricBase, Torus
from planner.fabrics.joined_racks.switch_ports import JoinedSwitchPorts
from planner.fabrics.switch_ports import Connection, End
from planner.model.plan import Circuit

AXES = "xyz"


class TorusSwitchPorts(JoinedSwitchPorts):
    """An end is a chip and its face, such as s0.c63:+x."""

    def ends(self, fabric: FabricBase) -> Iterator[End]:
        assert isinstance(fabric, Torus)
        for switch in fabric.switch_names:
            number, place = fabric.parse_switch(switch)
            rack, axis = divmod(number, 3)
            for server in range(rack * fabric.servers, (rack + 1) * fabric.servers):
                yield End(switch, _face(fabric, server, axis, place, "+"), "input")
                yield End(switch, _face(fabric, server, axis, place, "-"), "output")
        yield from super().ends(fabric)

    def of_circuit(self, fabric: FabricBase, circuit: Circuit) -> Iterator[Connection]:
        for switch in circuit.fibers:
            yield switch, f"{circuit.source}:+{_axis(switch)}", f"{circuit.destination}:-{_axis(switch)}"


def _axis(switch: str) -> str:
    return switch.rpartition(".")[2][0]


def _face(fabric: Torus, server: int, axis: int, place: int, sign: str) -> str:
    """The chip of a cube at a place on the face of an axis, and that face."""
    sides = fabric.sides
    across = [sides[i] for i in range(3) if i != axis]
    position = list(divmod(place, across[1]))
    position.insert(axis, sides[axis] - 1 if sign == "+" else 0)
    slot = (position[0] * sides[1] + position[1]) * sides[2] + position[2]
    return f"{fabric.device_name(server, slot)}:{sign}{AXES[axis]}"
