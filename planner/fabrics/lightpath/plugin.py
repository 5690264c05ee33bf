"""Wavelengths on fibers between tiles."""

from typing import TYPE_CHECKING, ClassVar

from costmodel.fabrics import FabricBase, Lightpath
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.demand import Demand
    from planner.fabrics.free_state import MostLit
    from planner.fabrics.lightpath.free_state import LightpathFreeState
    from planner.fabrics.lightpath.rewiring import FirstFitRewiring
    from planner.model.cluster import Cluster


class LightpathPlugin(FabricPlugin):
    """Circuits of light: routes over fibers, wavelengths, lasers and losses."""

    schema = Lightpath
    parts: ClassVar = {
        "spares": "planner.fabrics.lightpath.spares:LightpathSpares",
        "upgrades": "planner.fabrics.lightpath.upgrades:LightpathUpgrades",
        "shortages": "planner.fabrics.lightpath.shortages:LightpathShortages",
        "claims": "planner.fabrics.lightpath.claims:LightpathClaims",
        "drawing": "planner.fabrics.lightpath.drawing:LightpathDrawing",
        "rules": "planner.fabrics.lightpath.rules:LightpathRules",
        "template": "planner.fabrics.lightpath.template:LightpathTemplate",
        "interchangeable": "planner.fabrics.lightpath.interchangeable:LightpathInterchangeable",
        "residents": "planner.fabrics.lightpath.residents:LightpathResidents",
        "job_classes": "planner.fabrics.lightpath.job_class:LightpathJobClassRules",
        "wiring": "planner.fabrics.lightpath.circuit_names:LightpathWiringNames",
        "circuit_namer": "planner.fabrics.lightpath.circuit_names:LightpathCircuitNamer",
        "step_one": "planner.fabrics.lightpath.step1:LightpathStepOne",
        "step_two": "planner.fabrics.lightpath.step2:LightpathStepTwo",
        "windows": "planner.fabrics.windows:RackWindows",
        "repair_model": "planner.fabrics.lightpath.repair_circuits:LightpathRepair",
        "dominance": "planner.fabrics.lightpath.dominance:LightpathDominance",
        "starts": "planner.fabrics.lightpath.starts:LightpathStarts",
        "isolation": "planner.fabrics.lightpath.rule_isolation:LightpathIsolation",
        "switch_ports": "planner.fabrics.joined_racks.switch_ports:JoinedSwitchPorts",
        "shared_amounts": "planner.fabrics.server_shares.shared_amounts:ShareAmounts",
        "ranked_circuits": "planner.fabrics.lightpath.ranked_circuits:LightpathRankedCircuits",
    }

    def demand_type(self, fabric: FabricBase) -> "type[Demand]":
        from planner.fabrics.demand import Demand
        from planner.fabrics.server_shares.demand import SharedDemand

        assert isinstance(fabric, Lightpath)
        return Demand if fabric.shared is None else SharedDemand

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "LightpathFreeState":
        from planner.fabrics.lightpath.free_state import LightpathFreeState

        return LightpathFreeState(cluster, most_lit)

    def rewiring(self, cluster: "Cluster") -> "FirstFitRewiring":
        from planner.fabrics.lightpath.rewiring import FirstFitRewiring

        return FirstFitRewiring(cluster)
