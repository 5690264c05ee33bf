"""Claims of jobs on rails: ports belong to accelerators; the switches that join them must work."""

from collections.abc import Collection, Iterable

from costmodel.fabrics import FabricBase, OcsRail
from planner.fabrics.claims import JobClaims, Placed
from planner.model.plan import Circuit


class OcsRailClaims(JobClaims):
    """A circuit of width w goes through w switches of the rail of its ends."""

    def relied_on(self, fabric: FabricBase, job: Placed) -> Iterable[str]:
        assert isinstance(fabric, OcsRail)
        circuits = (circuit for held in job.circuits for circuit in held.circuits)
        used = {switch for circuit in circuits for switch in _switches(fabric, circuit)}
        return [fabric.switch_name(*switch) for switch in sorted(used)]

    def of_circuit(self, fabric: FabricBase, circuit: Circuit) -> Collection[str]:
        assert isinstance(fabric, OcsRail)
        return [fabric.switch_name(*switch) for switch in _switches(fabric, circuit)]


def _switches(fabric: OcsRail, circuit: Circuit) -> set[tuple[int, int]]:
    """Rail and number of each switch."""
    rail = fabric.parse_device(circuit.source)[1]
    return {(rail, number) for number in circuit.wavelengths}
