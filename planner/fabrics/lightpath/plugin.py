"""Wavelengths on fibers between tiles."""

from functools import cached_property
from typing import TYPE_CHECKING

from costmodel.fabrics import Lightpath
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.free_state import MostLit
    from planner.fabrics.lightpath.circuit_names import LightpathCircuitNamer, LightpathWiringNames
    from planner.fabrics.lightpath.claims import LightpathClaims
    from planner.fabrics.lightpath.dominance import LightpathDominance
    from planner.fabrics.lightpath.drawing import LightpathDrawing
    from planner.fabrics.lightpath.free_state import LightpathFreeState
    from planner.fabrics.lightpath.interchangeable import LightpathInterchangeable
    from planner.fabrics.lightpath.job_class import LightpathJobClassRules
    from planner.fabrics.lightpath.ranked_circuits import LightpathRankedCircuits
    from planner.fabrics.lightpath.repair_circuits import LightpathRepair
    from planner.fabrics.lightpath.residents import LightpathResidents
    from planner.fabrics.lightpath.rewiring import FirstFitRewiring
    from planner.fabrics.lightpath.rule_isolation import LightpathIsolation
    from planner.fabrics.lightpath.rules import LightpathRules
    from planner.fabrics.lightpath.shortages import LightpathShortages
    from planner.fabrics.lightpath.spares import LightpathSpares
    from planner.fabrics.lightpath.starts import LightpathStarts
    from planner.fabrics.lightpath.step1 import LightpathStepOne
    from planner.fabrics.lightpath.step2 import LightpathStepTwo
    from planner.fabrics.lightpath.template import LightpathTemplate
    from planner.fabrics.lightpath.upgrades import LightpathUpgrades
    from planner.fabrics.windows import NoWindows
    from planner.model.cluster import Cluster


class LightpathPlugin(FabricPlugin):
    """Circuits of light: routes over fibers, wavelengths, lasers and losses."""

    schema = Lightpath

    @cached_property
    def spares(self) -> "LightpathSpares":
        from planner.fabrics.lightpath.spares import LightpathSpares

        return LightpathSpares()

    @cached_property
    def upgrades(self) -> "LightpathUpgrades":
        from planner.fabrics.lightpath.upgrades import LightpathUpgrades

        return LightpathUpgrades()

    @cached_property
    def shortages(self) -> "LightpathShortages":
        from planner.fabrics.lightpath.shortages import LightpathShortages

        return LightpathShortages()

    @cached_property
    def claims(self) -> "LightpathClaims":
        from planner.fabrics.lightpath.claims import LightpathClaims

        return LightpathClaims()

    @cached_property
    def drawing(self) -> "LightpathDrawing":
        from planner.fabrics.lightpath.drawing import LightpathDrawing

        return LightpathDrawing()

    @cached_property
    def rules(self) -> "LightpathRules":
        from planner.fabrics.lightpath.rules import LightpathRules

        return LightpathRules()

    @cached_property
    def template(self) -> "LightpathTemplate":
        from planner.fabrics.lightpath.template import LightpathTemplate

        return LightpathTemplate()

    @cached_property
    def interchangeable(self) -> "LightpathInterchangeable":
        from planner.fabrics.lightpath.interchangeable import LightpathInterchangeable

        return LightpathInterchangeable()

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "LightpathFreeState":
        from planner.fabrics.lightpath.free_state import LightpathFreeState

        return LightpathFreeState(cluster, most_lit)

    @cached_property
    def residents(self) -> "LightpathResidents":
        from planner.fabrics.lightpath.residents import LightpathResidents

        return LightpathResidents()

    @cached_property
    def job_classes(self) -> "LightpathJobClassRules":
        from planner.fabrics.lightpath.job_class import LightpathJobClassRules

        return LightpathJobClassRules()

    @cached_property
    def wiring(self) -> "LightpathWiringNames":
        from planner.fabrics.lightpath.circuit_names import LightpathWiringNames

        return LightpathWiringNames()

    def circuit_namer(self) -> "LightpathCircuitNamer":
        from planner.fabrics.lightpath.circuit_names import LightpathCircuitNamer

        return LightpathCircuitNamer()

    @cached_property
    def step_one(self) -> "LightpathStepOne":
        from planner.fabrics.lightpath.step1 import LightpathStepOne

        return LightpathStepOne()

    @cached_property
    def step_two(self) -> "LightpathStepTwo":
        from planner.fabrics.lightpath.step2 import LightpathStepTwo

        return LightpathStepTwo()

    @cached_property
    def windows(self) -> "NoWindows":
        from planner.fabrics.windows import NoWindows

        return NoWindows()

    @cached_property
    def repair_model(self) -> "LightpathRepair":
        from planner.fabrics.lightpath.repair_circuits import LightpathRepair

        return LightpathRepair()

    @cached_property
    def dominance(self) -> "LightpathDominance":
        from planner.fabrics.lightpath.dominance import LightpathDominance

        return LightpathDominance()

    @cached_property
    def starts(self) -> "LightpathStarts":
        from planner.fabrics.lightpath.starts import LightpathStarts

        return LightpathStarts()

    @cached_property
    def isolation(self) -> "LightpathIsolation":
        from planner.fabrics.lightpath.rule_isolation import LightpathIsolation

        return LightpathIsolation()

    @cached_property
    def ranked_circuits(self) -> "LightpathRankedCircuits":
        from planner.fabrics.lightpath.ranked_circuits import LightpathRankedCircuits

        return LightpathRankedCircuits()

    def rewiring(self, cluster: "Cluster") -> "FirstFitRewiring":
        from planner.fabrics.lightpath.rewiring import FirstFitRewiring

        return FirstFitRewiring(cluster)
