"""Switches of pooled racks: of each rail in a server, and of each spine rail in a zone."""

from collections.abc import Iterable, Iterator, Sequence

from costmodel.fabrics import FabricBase, Sipam
from planner.fabrics.joined_racks.switch_ports import JoinedSwitchPorts, states_above
from planner.fabrics.sipam.switches import of_circuit, setting_of
from planner.fabrics.switch_ports import BOTH, Connection, End, InPhase
from planner.model.instance import Instance
from planner.model.plan import Assignment, Circuit, SwitchState


class PoolSwitchPorts(JoinedSwitchPorts):
    """Accelerators, ports of trays and uplinks at a server's switch; uplinks of all servers at that of a zone;
    ports of racks at those above."""

    def ends(self, fabric: FabricBase) -> Iterator[End]:
        assert isinstance(fabric, Sipam)
        for switch in fabric.switch_names:
            rail, number = fabric.parse_switch(switch)
            for end in (
                _of_server(fabric, rail, number) if number < fabric.num_servers else _of_zone(fabric, rail, number)
            ):
                yield from (End(switch, end, direction) for direction in BOTH)
        yield from super().ends(fabric)

    def states(self, instance: Instance, assignments: Iterable[Assignment]) -> tuple[SwitchState, ...]:
        assignments = list(assignments)
        return (*states_above(assignments), *setting_of(instance, assignments).after)

    def connections(self, fabric: FabricBase, circuits: Sequence[InPhase]) -> Iterator[Connection]:
        """Of the first phase, which comes first among the circuits: switches turn where another begins."""
        phases = [phase for phase, _ in circuits if phase is not None]
        return super().connections(fabric, [(phase, c) for phase, c in circuits if phase in (None, *phases[:1])])

    def of_circuit(self, fabric: FabricBase, circuit: Circuit) -> Iterator[Connection]:
        assert isinstance(fabric, Sipam)
        return of_circuit(fabric, circuit)


def _of_server(fabric: Sipam, rail: int, server: int) -> Iterator[str]:
    yield from (fabric.device_name(server, slot) for slot in range(fabric.devices_per_server))
    if rail < fabric.local_rails:
        trays, ports = range(fabric.trays_per_server), range(fabric.tray_ports)
        yield from (fabric.tray_port_name(server, tray, rail, port) for tray in trays for port in ports)
    else:
        yield from (fabric.uplink_name(server, rail, index) for index in range(fabric.uplinks))


def _of_zone(fabric: Sipam, rail: int, number: int) -> Iterator[str]:
    first = (number - fabric.num_servers) * fabric.servers
    servers = range(first, first + fabric.servers)
    return (fabric.uplink_name(server, rail, index) for server in servers for index in range(fabric.uplinks))
