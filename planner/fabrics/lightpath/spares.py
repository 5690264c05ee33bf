"""Fibers that stand in for failed ones, and circuits of jobs whose ranks moved."""

from collections.abc import Mapping, Sequence

from costmodel.fabrics import FabricBase, Lightpath
from planner.fabrics.lightpath.ranked_circuits import circuits_of, completed
from planner.fabrics.lightpath.rwa import Spectrum
from planner.fabrics.ranked_assignment import RankedAssignment
from planner.fabrics.ranked_circuits import RankedCircuit
from planner.fabrics.spares import CircuitRouter, Device, Place, Spares
from planner.model.cluster import Cluster
from planner.model.plan import Assignment, Circuit, HeldCircuits


class FirstFitRouter(CircuitRouter):
    """First fit of routes and wavelengths."""

    def __init__(self, cluster: Cluster, fixed: Sequence[Assignment]) -> None:
        self._spectrum = Spectrum(cluster)
        for assignment in fixed:
            self._spectrum.commit(assignment.circuits)
        self._taken = dict(self._spectrum.taken)

    def restart(self) -> None:
        self._spectrum.taken = dict(self._taken)

    def add(
        self, job: RankedAssignment, devices: Sequence[Device], kept: Sequence[Mapping[int, Circuit]]
    ) -> tuple[HeldCircuits, ...] | None:
        circuits = completed(job, self._spectrum, devices, kept)
        if circuits is not None:
            self._spectrum.commit(circuits)
        return circuits


class LightpathSpares(Spares):
    """Fibers of a pair of servers stand in for each other; so do devices, where slots do not matter."""

    def router(self, cluster: Cluster, fixed: Sequence[Assignment]) -> CircuitRouter:
        return FirstFitRouter(cluster, fixed)

    def circuits(
        self,
        fabric: FabricBase,
        job: RankedAssignment,
        devices: Sequence[Device],
        found: Sequence[Sequence[RankedCircuit]],
    ) -> tuple[HeldCircuits, ...]:
        assert isinstance(fabric, Lightpath)
        return circuits_of(fabric, job, devices, found)

    def are_servers_alike(self, fabric: FabricBase) -> bool:
        assert isinstance(fabric, Lightpath)
        return isinstance(fabric.fibers, int) and not fabric.slots_matter

    def place_of(self, fabric: FabricBase, kind: str, part: str) -> Place | None:
        if kind != "fiber":
            return super().place_of(fabric, kind, part)
        source, _, rest = part.partition(">")
        return fabric.parse_server(source), fabric.parse_server(rest.partition("#")[0])

    def healthy_parts(self, cluster: Cluster, place: Place) -> list[str]:
        fabric = cluster.fabric
        if len(place) == 1:
            return super().healthy_parts(cluster, place)
        assert isinstance(fabric, Lightpath)
        return [fabric.fiber_name(*place, index) for index in cluster.healthy_fibers(*place)]
