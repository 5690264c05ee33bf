"""Circuits of jobs that run already on rails: those of their configurations, through switches of one rail each."""

from collections import Counter
from typing import TYPE_CHECKING

from costmodel.fabrics import FabricBase, OcsRail
from planner.fabrics.residents import ResidentRules, Running, check_asked_circuits, check_ends
from planner.model.plan import Circuit

if TYPE_CHECKING:
    from planner.model.job import Resident


class OcsRailResidents(ResidentRules):
    """A circuit joins devices of one rail on two servers, through switches of that rail."""

    def check_circuit(self, fabric: FabricBase, resident: "Resident", circuit: Circuit, where: str) -> None:
        assert isinstance(fabric, OcsRail)
        check_ends(resident, circuit, where)
        (source, rail), (destination, other) = map(fabric.parse_device, (circuit.source, circuit.destination))
        if source == destination or rail != other or circuit.fibers:
            raise ValueError(
                f"{where}.circuits: {circuit.source} to {circuit.destination} does not join two servers in one slot by "
                "switches alone"
            )
        if max(circuit.wavelengths) >= fabric.switches or min(circuit.wavelengths) < 0:
            raise ValueError(f"{where}.circuits: switches of a rail are 0 to {fabric.switches - 1}")

    def check_circuits(self, running: Running) -> None:
        """One block on each server, on the same rails, and each port of a device in one circuit."""
        check_asked_circuits(running)
        rails = {tuple(slot for _, slot in block) for block in running.blocks}
        servers = {server for server, _ in running.devices}
        if running.demand.num_ports and (len(servers) < len(running.blocks) or len(rails) > 1):
            raise ValueError(
                f"{running.where}.devices: a job with circuits has a block on each of its servers, in the same slots"
            )
        circuits = [(held.phase, circuit) for held in running.resident.circuits for circuit in held.circuits]
        ports = Counter(
            port
            for turn, c in circuits
            for w in c.wavelengths
            for port in (("from", c.source, w, turn), ("to", c.destination, w, turn))
        )
        for (way, device, switch, _), count in ports.items():
            if count > 1:
                raise ValueError(
                    f"{running.where}.circuits: {count} go {way} {device} through switch {switch} of its rail"
                )
