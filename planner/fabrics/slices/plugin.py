"""Slices of a fixed shape."""

from typing import TYPE_CHECKING, ClassVar

from costmodel.fabrics import SlicedFabric
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.free_state import MostLit
    from planner.fabrics.slices.free_state import SlicedFreeState
    from planner.model.cluster import Cluster


class SlicedPlugin(FabricPlugin):
    """Jobs hold boxes of a torus or digits of a SiPAC."""

    schema: ClassVar[type[SlicedFabric]]
    parts: ClassVar = {
        "shortages": "planner.fabrics.slices.shortages:SliceShortages",
        "claims": "planner.fabrics.slices.claims:SlicedClaims",
        "rules": "planner.fabrics.slices.rules:SlicedRules",
        "residents": "planner.fabrics.slices.residents:SlicedResidents",
        "circuit_namer": "planner.fabrics.slices.circuit_names:SlicedCircuitNamer",
        "step_one": "planner.fabrics.slices.step1:SlicedStepOne",
        "step_two": "planner.fabrics.slices.step2:SlicedStepTwo",
        "windows": "planner.fabrics.slices.windows:SliceWindows",
        "dominance": "planner.fabrics.slices.dominance:SlicedDominance",
        "starts": "planner.fabrics.slices.starts:SlicedStarts",
        "isolation": "planner.fabrics.slices.rule_isolation:SlicedIsolation",
    }

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "SlicedFreeState":
        from planner.fabrics.slices.free_state import SlicedFreeState

        return SlicedFreeState(cluster)

    def why_not_cut(self, policy: str) -> str | None:
        if policy == self.own_slices:
            return None
        return f"a {self.kind} has slices of its own; take first_fit or best_fit"
