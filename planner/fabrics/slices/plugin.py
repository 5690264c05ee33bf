"""Slices of a fixed shape."""

from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from costmodel.fabrics import SlicedFabric
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.free_state import MostLit
    from planner.fabrics.slices.circuit_names import SlicedCircuitNamer
    from planner.fabrics.slices.claims import SlicedClaims
    from planner.fabrics.slices.dominance import SlicedDominance
    from planner.fabrics.slices.free_state import SlicedFreeState
    from planner.fabrics.slices.residents import SlicedResidents
    from planner.fabrics.slices.rule_isolation import SlicedIsolation
    from planner.fabrics.slices.rules import SlicedRules
    from planner.fabrics.slices.shortages import SliceShortages
    from planner.fabrics.slices.starts import SlicedStarts
    from planner.fabrics.slices.step1 import SlicedStepOne
    from planner.fabrics.slices.step2 import SlicedStepTwo
    from planner.fabrics.windows import NoWindows
    from planner.model.cluster import Cluster


class SlicedPlugin(FabricPlugin):
    """Jobs hold boxes of a torus or digits of a SiPAC."""

    schema: ClassVar[type[SlicedFabric]]

    @cached_property
    def shortages(self) -> "SliceShortages":
        from planner.fabrics.slices.shortages import SliceShortages

        return SliceShortages()

    @cached_property
    def claims(self) -> "SlicedClaims":
        from planner.fabrics.slices.claims import SlicedClaims

        return SlicedClaims()

    @cached_property
    def rules(self) -> "SlicedRules":
        from planner.fabrics.slices.rules import SlicedRules

        return SlicedRules()

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "SlicedFreeState":
        from planner.fabrics.slices.free_state import SlicedFreeState

        return SlicedFreeState(cluster)

    @cached_property
    def residents(self) -> "SlicedResidents":
        from planner.fabrics.slices.residents import SlicedResidents

        return SlicedResidents()

    def why_not_cut(self, policy: str) -> str | None:
        if policy == self.own_slices:
            return None
        return f"a {self.kind} has slices of its own; take first_fit or best_fit"

    def circuit_namer(self) -> "SlicedCircuitNamer":
        from planner.fabrics.slices.circuit_names import SlicedCircuitNamer

        return SlicedCircuitNamer()

    @cached_property
    def step_one(self) -> "SlicedStepOne":
        from planner.fabrics.slices.step1 import SlicedStepOne

        return SlicedStepOne()

    @cached_property
    def step_two(self) -> "SlicedStepTwo":
        from planner.fabrics.slices.step2 import SlicedStepTwo

        return SlicedStepTwo()

    @cached_property
    def windows(self) -> "NoWindows":
        from planner.fabrics.windows import NoWindows

        return NoWindows()

    @cached_property
    def dominance(self) -> "SlicedDominance":
        from planner.fabrics.slices.dominance import SlicedDominance

        return SlicedDominance()

    @cached_property
    def starts(self) -> "SlicedStarts":
        from planner.fabrics.slices.starts import SlicedStarts

        return SlicedStarts()

    @cached_property
    def isolation(self) -> "SlicedIsolation":
        from planner.fabrics.slices.rule_isolation import SlicedIsolation

        return SlicedIsolation()
