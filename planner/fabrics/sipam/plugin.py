"""Pooled memory over photonic I/O."""

from typing import TYPE_CHECKING, ClassVar

from costmodel.fabrics import FabricBase, Sipam
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from collections.abc import Iterable

    from costmodel.pricing.candidates import Candidates
    from planner.fabrics.dominance import Ints
    from planner.fabrics.free_state import MostLit
    from planner.fabrics.sipam.demand import SipamDemand
    from planner.fabrics.sipam.free_state import PoolFreeState
    from planner.model.cluster import Cluster
    from planner.model.instance import Instance
    from planner.model.job import Job
    from planner.model.plan import Assignment, SwitchSetting


class SipamPlugin(FabricPlugin):
    """Memory units, ports of trays, rails and uplinks that jobs hold beside their accelerators."""

    schema = Sipam
    parts: ClassVar = {
        "spares": "planner.fabrics.sipam.spares:SipamSpares",
        "upgrades": "planner.fabrics.sipam.upgrades:SipamUpgrades",
        "shortages": "planner.fabrics.sipam.shortages:SipamShortages",
        "claims": "planner.fabrics.sipam.claims:SipamClaims",
        "drawing": "planner.fabrics.sipam.drawing:SipamDrawing",
        "rules": "planner.fabrics.sipam.rules:SipamRules",
        "template": "planner.fabrics.sipam.template:SipamTemplate",
        "interchangeable": "planner.fabrics.sipam.interchangeable:SipamInterchangeable",
        "residents": "planner.fabrics.sipam.residents:SipamResidents",
        "job_classes": "planner.fabrics.sipam.job_class:SipamJobClassRules",
        "wiring": "planner.fabrics.sipam.attachments:SipamWiringNames",
        "switch_ports": "planner.fabrics.sipam.switch_ports:PoolSwitchPorts",
        "circuit_namer": "planner.fabrics.sipam.circuit_names:SipamCircuitNamer",
        "step_one": "planner.fabrics.sipam.step1:PoolStepOne",
        "step_two": "planner.fabrics.sipam.step2:PoolStepTwo",
        "windows": "planner.fabrics.sipam.windows:PoolWindows",
        "dominance": "planner.fabrics.sipam.dominance:PoolDominance",
        "shared_amounts": "planner.fabrics.sipam.shared_amounts:PoolAmounts",
        "starts": "planner.fabrics.sipam.starts:PoolStarts",
        "isolation": "planner.fabrics.sipam.rule_isolation:SipamIsolation",
    }

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

    def why_not_cut(self, policy: str) -> str | None:
        return "a sipam has no slices; take first_fit, best_fit or sipam_loop"

    def switch_setting(self, instance: "Instance", assignments: "Iterable[Assignment]") -> "SwitchSetting":
        from planner.fabrics.sipam.switches import setting_of

        return setting_of(instance, assignments)
