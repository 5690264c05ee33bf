"""Variables of step 1 for slices: which slices inside servers are taken, whatever job takes them."""

from collections.abc import Iterator, Sequence
from math import prod

from ortools.sat.python import cp_model

from costmodel.fabrics import SlicedFabric, SliceShape
from costmodel.fabrics.sliced import Held
from planner.fabrics.slices.free_slices import FreeSlices
from planner.fabrics.slices.slice_literals import SliceLiterals, new_places
from planner.formulation.variables import FabricVariables, Hint, JobVariables, KnownPlan, Variables
from planner.model.cluster import Cluster

MOST_CELLS = 500_000
"""slots of all slices, each counted as often as it lies in one, up to which step 1 places slices"""


class SliceVariables(FabricVariables):
    """Slices inside servers, shared by the jobs that take slices of one extent."""

    def __init__(self, cluster: Cluster) -> None:
        assert isinstance(cluster.fabric, SlicedFabric)
        self.fabric = cluster.fabric
        self.places: dict[tuple[int, SliceShape], tuple[SliceLiterals, ...]] = {}
        """by server and extent: the slices that are there, where not too many"""
        self._cluster = cluster

    def add_shared(self, model: cp_model.CpModel, jobs: Sequence[JobVariables]) -> None:
        cuts = sorted({kind.cut for job in jobs for kind in job.blocks if kind.cut})
        if not cuts:
            return
        whole = FreeSlices(self._cluster)
        slices = {(s, cut): whole.usable(s, cut) for s in range(self.fabric.num_servers) for cut in cuts}
        if sum(prod(cut) * len(found) for (_, cut), found in slices.items()) <= MOST_CELLS:
            self.places = {key: new_places(model, found) for key, found in slices.items()}

    def shared_hints(self, plan: KnownPlan) -> Iterator[Hint]:
        held = self._held(plan) if self.places else set()
        for (server, _), places in self.places.items():
            for place in places:
                yield place.taken, (server, place.slice.slots) in held

    def _held(self, plan: KnownPlan) -> set[Held]:
        """Slices of jobs that are placed anew, on the servers that stand for theirs."""
        held: set[Held] = set()
        for j in plan.pattern:
            options, row = plan.problem.options[j], plan.row(j)
            if row is not None and options.shapes[row].cut:
                names = plan.assignments[options.job.name].devices
                devices = [self.fabric.parse_device(name) for name in names]
                slices = self.fabric.held(options.candidates.row_plans(row), devices)
                held.update((plan.names[server], slots) for server, slots in slices or ())
        return held


def slice_variables(v: Variables) -> SliceVariables:
    """Those that this fabric added."""
    assert isinstance(v.of_fabric, SliceVariables)
    return v.of_fabric
