"""Switches of rails: every accelerator of the rail has one port, in and out, into each of them."""

from collections.abc import Iterator, Sequence

from costmodel.fabrics import FabricBase, OcsRail
from planner.fabrics.switch_ports import BOTH, Connection, End, InPhase, SwitchPorts
from planner.model.plan import Circuit


class RailSwitchPorts(SwitchPorts):
    """The port of a server has its number on every switch."""

    def ends(self, fabric: FabricBase) -> Iterator[End]:
        for switch in fabric.switch_names:
            rail, _ = fabric.parse_switch(switch)
            for server in range(fabric.num_servers):
                yield from (End(switch, fabric.device_name(server, rail), direction) for direction in BOTH)

    def connections(self, fabric: FabricBase, circuits: Sequence[InPhase]) -> Iterator[Connection]:
        """Of the first turn, which comes first among the circuits: its software has switches turn for the others."""
        turns = [turn for turn, _ in circuits if turn is not None]
        return super().connections(fabric, [(turn, c) for turn, c in circuits if turn in (None, *turns[:1])])

    def of_circuit(self, fabric: FabricBase, circuit: Circuit) -> Iterator[Connection]:
        assert isinstance(fabric, OcsRail)
        rail = fabric.parse_device(circuit.source)[1]
        for number in circuit.wavelengths:
            yield fabric.switch_name(rail, number), circuit.source, circuit.destination
