"""Pooled memory over photonic I/O."""

from functools import cached_property
from typing import TYPE_CHECKING

from costmodel.fabrics import FabricBase, Sipam
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from costmodel.pricing.candidates import Candidates
    from planner.fabrics.dominance import Ints
    from planner.fabrics.free_state import MostLit
    from planner.fabrics.sipam.attachments import SipamWiringNames
    from planner.fabrics.sipam.circuit_names import SipamCircuitNamer
    from planner.fabrics.sipam.claims import SipamClaims
    from planner.fabrics.sipam.demand import SipamDemand
    from planner.fabrics.sipam.dominance import PoolDominance
    from planner.fabrics.sipam.drawing import SipamDrawing
    from planner.fabrics.sipam.free_state import PoolFreeState
    from planner.fabrics.sipam.interchangeable import SipamInterchangeable
    from planner.fabrics.sipam.job_class import SipamJobClassRules
    from planner.fabrics.sipam.residents import SipamResidents
    from planner.fabrics.sipam.rule_isolation import SipamIsolation
    from planner.fabrics.sipam.rules import SipamRules
    from planner.fabrics.sipam.shared_amounts import PoolAmounts
    from planner.fabrics.sipam.shortages import SipamShortages
    from planner.fabrics.sipam.spares import SipamSpares
    from planner.fabrics.sipam.starts import PoolStarts
    from planner.fabrics.sipam.step1 import PoolStepOne
    from planner.fabrics.sipam.step2 import PoolStepTwo
    from planner.fabrics.sipam.template import SipamTemplate
    from planner.fabrics.sipam.upgrades import SipamUpgrades
    from planner.fabrics.sipam.windows import PoolWindows
    from planner.model.cluster import Cluster
    from planner.model.instance import Instance
    from planner.model.job import Job
    from planner.model.plan import Assignment, SwitchSetting


class SipamPlugin(FabricPlugin):
    """Memory units, ports of trays, rails and uplinks that jobs hold beside their accelerators."""

    schema = Sipam

    @cached_property
    def spares(self) -> "SipamSpares":
        from planner.fabrics.sipam.spares import SipamSpares

        return SipamSpares()

    @cached_property
    def upgrades(self) -> "SipamUpgrades":
        from planner.fabrics.sipam.upgrades import SipamUpgrades

        return SipamUpgrades()

    @cached_property
    def shortages(self) -> "SipamShortages":
        from planner.fabrics.sipam.shortages import SipamShortages

        return SipamShortages()

    @cached_property
    def claims(self) -> "SipamClaims":
        from planner.fabrics.sipam.claims import SipamClaims

        return SipamClaims()

    @cached_property
    def drawing(self) -> "SipamDrawing":
        from planner.fabrics.sipam.drawing import SipamDrawing

        return SipamDrawing()

    @cached_property
    def rules(self) -> "SipamRules":
        from planner.fabrics.sipam.rules import SipamRules

        return SipamRules()

    @cached_property
    def template(self) -> "SipamTemplate":
        from planner.fabrics.sipam.template import SipamTemplate

        return SipamTemplate()

    @cached_property
    def interchangeable(self) -> "SipamInterchangeable":
        from planner.fabrics.sipam.interchangeable import SipamInterchangeable

        return SipamInterchangeable()

    def demand_type(self, fabric: FabricBase) -> "type[SipamDemand]":
        from planner.fabrics.sipam.demand import SipamDemand

        return SipamDemand

    def published_rows(self, cluster: "Cluster", job: "Job", candidates: "Candidates") -> "Ints | None":
        from planner.fabrics.sipam.published_loop import loop_rows

        assert isinstance(cluster.fabric, Sipam)
        return None if cluster.fabric.local_memory else loop_rows(cluster, job, candidates)

    def memory_missing(self, cluster: "Cluster", job: "Job") -> str:
        from planner.fabrics.sipam.why_unlisted import what_is_missing

        return what_is_missing(cluster, job)

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "PoolFreeState":
        from planner.fabrics.sipam.free_state import PoolFreeState

        return PoolFreeState(cluster)

    @cached_property
    def residents(self) -> "SipamResidents":
        from planner.fabrics.sipam.residents import SipamResidents

        return SipamResidents()

    @cached_property
    def job_classes(self) -> "SipamJobClassRules":
        from planner.fabrics.sipam.job_class import SipamJobClassRules

        return SipamJobClassRules()

    @cached_property
    def wiring(self) -> "SipamWiringNames":
        from planner.fabrics.sipam.attachments import SipamWiringNames

        return SipamWiringNames()

    def why_not_cut(self, policy: str) -> str | None:
        return "a sipam has no slices; take first_fit, best_fit or sipam_loop"

    def circuit_namer(self) -> "SipamCircuitNamer":
        from planner.fabrics.sipam.circuit_names import SipamCircuitNamer

        return SipamCircuitNamer()

    @cached_property
    def step_one(self) -> "PoolStepOne":
        from planner.fabrics.sipam.step1 import PoolStepOne

        return PoolStepOne()

    @cached_property
    def step_two(self) -> "PoolStepTwo":
        from planner.fabrics.sipam.step2 import PoolStepTwo

        return PoolStepTwo()

    @cached_property
    def windows(self) -> "PoolWindows":
        from planner.fabrics.sipam.windows import PoolWindows

        return PoolWindows()

    @cached_property
    def dominance(self) -> "PoolDominance":
        from planner.fabrics.sipam.dominance import PoolDominance

        return PoolDominance()

    @cached_property
    def shared_amounts(self) -> "PoolAmounts":
        from planner.fabrics.sipam.shared_amounts import PoolAmounts

        return PoolAmounts()

    @cached_property
    def starts(self) -> "PoolStarts":
        from planner.fabrics.sipam.starts import PoolStarts

        return PoolStarts()

    @cached_property
    def isolation(self) -> "SipamIsolation":
        from planner.fabrics.sipam.rule_isolation import SipamIsolation

        return SipamIsolation()

    def switch_setting(self, instance: "Instance", assignments: "Iterable[Assignment]") -> "SwitchSetting":
        from planner.fabrics.sipam.switches import setting_of

        return setting_of(instance, assignments)
