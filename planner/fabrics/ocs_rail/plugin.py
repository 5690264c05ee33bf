"""Rails of optical circuit switches."""

from typing import TYPE_CHECKING, ClassVar

from costmodel.fabrics import FabricBase, OcsRail
from planner.fabrics.plugin import FabricPlugin

if TYPE_CHECKING:
    from planner.fabrics.free_state import MostLit
    from planner.fabrics.ocs_rail.demand import RailDemand
    from planner.fabrics.ocs_rail.free_state import RailFreeState
    from planner.model.cluster import Cluster


class OcsRailPlugin(FabricPlugin):
    """One block a server, all on the same rails, circuits through the switches of each rail."""

    schema = OcsRail
    parts: ClassVar = {
        "upgrades": "planner.fabrics.ocs_rail.upgrades:OcsRailUpgrades",
        "shortages": "planner.fabrics.ocs_rail.shortages:OcsRailShortages",
        "claims": "planner.fabrics.ocs_rail.claims:OcsRailClaims",
        "drawing": "planner.fabrics.ocs_rail.drawing:OcsRailDrawing",
        "rules": "planner.fabrics.ocs_rail.rules:OcsRailRules",
        "template": "planner.fabrics.ocs_rail.template:OcsRailTemplate",
        "interchangeable": "planner.fabrics.ocs_rail.interchangeable:OcsRailInterchangeable",
        "residents": "planner.fabrics.ocs_rail.residents:OcsRailResidents",
        "switch_ports": "planner.fabrics.ocs_rail.switch_ports:RailSwitchPorts",
        "circuit_namer": "planner.fabrics.ocs_rail.circuit_names:OcsRailCircuitNamer",
        "step_one": "planner.fabrics.ocs_rail.step1:RailStepOne",
        "step_two": "planner.fabrics.ocs_rail.step2:RailStepTwo",
        "windows": "planner.fabrics.windows:RailWindows",
        "dominance": "planner.fabrics.ocs_rail.dominance:RailDominance",
        "isolation": "planner.fabrics.ocs_rail.rule_isolation:OcsRailIsolation",
        "ranked_circuits": "planner.fabrics.ocs_rail.ranked_circuits:OcsRailRankedCircuits",
    }

    def demand_type(self, fabric: FabricBase) -> "type[RailDemand]":
        from planner.fabrics.ocs_rail.demand import RailDemand

        return RailDemand

    def free_state(self, cluster: "Cluster", most_lit: "MostLit | None" = None) -> "RailFreeState":
        from planner.fabrics.ocs_rail.free_state import RailFreeState

        return RailFreeState(cluster)
