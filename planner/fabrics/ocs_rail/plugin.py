"""Rails of optical circuit switches."""

from functools import cached_property
from typing import TYPE_CHECKING

from costmodel.fabrics import FabricBase, OcsRail
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.free_state import MostLit
    from planner.fabrics.ocs_rail.circuit_names import OcsRailCircuitNamer
    from planner.fabrics.ocs_rail.claims import OcsRailClaims
    from planner.fabrics.ocs_rail.demand import RailDemand
    from planner.fabrics.ocs_rail.dominance import RailDominance
    from planner.fabrics.ocs_rail.drawing import OcsRailDrawing
    from planner.fabrics.ocs_rail.free_state import RailFreeState
    from planner.fabrics.ocs_rail.interchangeable import OcsRailInterchangeable
    from planner.fabrics.ocs_rail.ranked_circuits import OcsRailRankedCircuits
    from planner.fabrics.ocs_rail.residents import OcsRailResidents
    from planner.fabrics.ocs_rail.rule_isolation import OcsRailIsolation
    from planner.fabrics.ocs_rail.rules import OcsRailRules
    from planner.fabrics.ocs_rail.shortages import OcsRailShortages
    from planner.fabrics.ocs_rail.step1 import RailStepOne
    from planner.fabrics.ocs_rail.step2 import RailStepTwo
    from planner.fabrics.ocs_rail.template import OcsRailTemplate
    from planner.fabrics.ocs_rail.upgrades import OcsRailUpgrades
    from planner.fabrics.windows import NoWindows
    from planner.model.cluster import Cluster


class OcsRailPlugin(FabricPlugin):
    """One block a server, all on the same rails, circuits through the switches of each rail."""

    schema = OcsRail

    @cached_property
    def upgrades(self) -> "OcsRailUpgrades":
        from planner.fabrics.ocs_rail.upgrades import OcsRailUpgrades

        return OcsRailUpgrades()

    @cached_property
    def shortages(self) -> "OcsRailShortages":
        from planner.fabrics.ocs_rail.shortages import OcsRailShortages

        return OcsRailShortages()

    @cached_property
    def claims(self) -> "OcsRailClaims":
        from planner.fabrics.ocs_rail.claims import OcsRailClaims

        return OcsRailClaims()

    @cached_property
    def drawing(self) -> "OcsRailDrawing":
        from planner.fabrics.ocs_rail.drawing import OcsRailDrawing

        return OcsRailDrawing()

    @cached_property
    def rules(self) -> "OcsRailRules":
        from planner.fabrics.ocs_rail.rules import OcsRailRules

        return OcsRailRules()

    @cached_property
    def template(self) -> "OcsRailTemplate":
        from planner.fabrics.ocs_rail.template import OcsRailTemplate

        return OcsRailTemplate()

    @cached_property
    def interchangeable(self) -> "OcsRailInterchangeable":
        from planner.fabrics.ocs_rail.interchangeable import OcsRailInterchangeable

        return OcsRailInterchangeable()

    def demand_type(self, fabric: FabricBase) -> "type[RailDemand]":
        from planner.fabrics.ocs_rail.demand import RailDemand

        return RailDemand

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "RailFreeState":
        from planner.fabrics.ocs_rail.free_state import RailFreeState

        return RailFreeState(cluster)

    @cached_property
    def residents(self) -> "OcsRailResidents":
        from planner.fabrics.ocs_rail.residents import OcsRailResidents

        return OcsRailResidents()

    def circuit_namer(self) -> "OcsRailCircuitNamer":
        from planner.fabrics.ocs_rail.circuit_names import OcsRailCircuitNamer

        return OcsRailCircuitNamer()

    @cached_property
    def step_one(self) -> "RailStepOne":
        from planner.fabrics.ocs_rail.step1 import RailStepOne

        return RailStepOne()

    @cached_property
    def step_two(self) -> "RailStepTwo":
        from planner.fabrics.ocs_rail.step2 import RailStepTwo

        return RailStepTwo()

    @cached_property
    def windows(self) -> "NoWindows":
        from planner.fabrics.windows import NoWindows

        return NoWindows()

    @cached_property
    def dominance(self) -> "RailDominance":
        from planner.fabrics.ocs_rail.dominance import RailDominance

        return RailDominance()

    @cached_property
    def isolation(self) -> "OcsRailIsolation":
        from planner.fabrics.ocs_rail.rule_isolation import OcsRailIsolation

        return OcsRailIsolation()

    @cached_property
    def ranked_circuits(self) -> "OcsRailRankedCircuits":
        from planner.fabrics.ocs_rail.ranked_circuits import OcsRailRankedCircuits

        return OcsRailRankedCircuits()
