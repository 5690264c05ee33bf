"""Claims of slices: links belong to accelerators; the optical switches that close and join boxes must work."""

from collections.abc import Collection, Iterable

from costmodel.fabrics import FabricBase
from planner.fabrics.claims import JobClaims, Placed
from planner.model.plan import Circuit


class SlicedClaims(JobClaims):
    """Circuits name the switch that they go through."""

    def relied_on(self, fabric: FabricBase, job: Placed) -> Iterable[str]:
        return sorted({name for held in job.circuits for circuit in held.circuits for name in circuit.fibers})

    def of_circuit(self, fabric: FabricBase, circuit: Circuit) -> Collection[str]:
        return circuit.fibers
